/* ---- figures of devices over time, as lanes: how busy they are, and how much work waits for them ---- */

/* Of STRIP the share of each bin that it was busy, in %. */
function busyShares(recording, strip) {
    const { bins } = recording.data, shares = new Array(bins).fill(0);
    strip.kinds.forEach((kind, place) => {
        if (recording.kinds[kind].group === "device")
            for (let bin = 0; bin < bins; bin++)
                shares[bin] += strip.shares[place * bins + bin] / 2.55;
    });
    return shares.map((share) => Math.min(100, Math.round(share)));
}

/* By strip, how much work was launched and had not begun: the most of each bin. */
function queueDepths(recording) {
    const { spans, lanes } = recording, { bins } = recording.data, changes = recording.strips.map(() => []);
    for (let i = 0; i < spans.count; i++) {
        const lane = lanes[spans.lane[i]];
        if (lane.place === 0 && recording.isWork(i) && spans.call[i] >= 0 && spans.start[spans.call[i]] < spans.start[i])
            changes[lane.strip].push([spans.start[spans.call[i]], 1], [spans.start[i], -1]);
    }
    return changes.map((own) => {
        const most = new Array(bins).fill(0);
        let now = 0, last = 0;
        for (const [at, change] of own.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
            const bin = Math.min(bins - 1, Math.floor(at / recording.length * bins));
            for (; last < bin; last++)
                most[last + 1] = now;
            now += change;
            most[bin] = Math.max(most[bin], now);
        }
        return most;
    });
}

/* They are open where there is one device, and stay on top where there are few. */
function addDeviceSeries(recording) {
    const { strips } = recording;
    if (!recording.kinds.length || recording.data.alive)
        return;
    const queues = queueDepths(recording);
    strips.forEach((strip, k) => {
        if (!recording.lanes.some((lane) => lane.place === 0 && lane.strip === k))
            return; /* of a recording without devices it is a thread */
        const own = { group: "", place: 1, strip: k, open: strips.length === 1, pinned: strips.length > 2 ? false : undefined };
        recording.lanes.push({ ...own, title: `${strip.title}: busy`, bins: busyShares(recording, strip), most: 100, text: (share) => `${share} %` });
        if (Math.max(...queues[k]) > 0)
            recording.lanes.push({ ...own, title: `${strip.title}: queue`, bins: queues[k], text: (count) => `${count} launched` });
    });
}
