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

/* They are open where there is one device, and stay on top where there are few. */
function addDeviceSeries(recording) {
    const { strips } = recording, { series } = recording.data;
    if (!recording.kinds.length || recording.data.alive)
        return;
    strips.forEach((strip, k) => {
        if (!recording.lanes.some((lane) => lane.place === 0 && lane.strip === k))
            return; /* of a recording without devices it is a thread */
        const own = { group: "", place: 1, strip: k, open: strips.length === 1, pinned: strips.length > 2 ? false : undefined };
        recording.lanes.push({ ...own, title: `${strip.title}: busy`, bins: busyShares(recording, strip), most: 100, text: (share) => `${share} %` });
        for (let i = 0; i < series.length; i += 3)
            if (series[i + 1] === k)
                recording.lanes.push({ ...own, title: series[i], series: i / 3, bins: stairsOf(series[i + 2], recording.data.bins), text: (count) => `${count} launched` });
    });
}
