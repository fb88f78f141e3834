/* ---- of a timeline: titles that fit, stripes of idle time, and arrows from calls to what they launched ---- */

/* The title of a lane; FROM_END: what tells it apart is its end. */
function fittedTitle(pen, text, room, fromEnd) {
    let short = text;
    for (let letters = text.length; letters > 1 && widthOf(pen, short) > room; letters--)
        short = fromEnd ? `\u2026${text.slice(1 - letters)}` : `${text.slice(0, letters - 1)}\u2026`;
    return short;
}

function titleOfLane(lane) {
    return lane.group ? `${lane.group}: ${lane.title}` : lane.title;
}

/* Stripes of COLOR, to draw over what is idle. */
function stripesOf(pen, color) {
    const canvas = document.createElement("canvas"), size = 6;
    canvas.width = canvas.height = size;
    const own = canvas.getContext("2d");
    own.strokeStyle = color;
    own.lineWidth = 1.6;
    own.beginPath();
    for (const at of [-size, 0, size]) {
        own.moveTo(at - 1, size + 1);
        own.lineTo(at + size + 1, -1);
    }
    own.stroke();
    return pen.createPattern(canvas, "repeat");
}

/* Is ROW where it can be seen? */
function isRowInSight(view, row) {
    const y = view.yOf(row);
    return y < view.high && (row.y < view.pinnedHeight || y + ROW > AXIS + view.pinnedHeight);
}

/* The work in sight whose call is in sight, too: [row of the call, row of the work, the work]. Of more than MOST each second, third ... */
function flowsInSight(view) {
    const MOST = 10000, { recording, from } = view, { spans } = recording, found = [], rows = [];
    let all = 0;
    for (const row of view.rows) {
        if (row.lane.place !== 0 || !isRowInSight(view, row))
            continue;
        const first = recording.firstAfter(row.list, from), end = view.skipTo(row.list, first, from + view.span);
        rows.push([row, first, end]);
        all += end - first;
    }
    const every = Math.max(1, Math.ceil(all / MOST));
    for (const [row, first, end] of rows)
        for (let k = first; k < end && spans.start[row.list[k]] < from + view.span; k += every) {
            const i = row.list[k], call = recording.isWork(i) ? view.rowOfSpan(spans.call[i]) : undefined;
            if (call && isRowInSight(view, call) && spans.start[spans.call[i]] >= from)
                found.push([call, row, i]);
        }
    return found;
}

/*
 * FLOWS as arrows: one each where they are few; where they are many, one for those that begin and end within a few pixels of each
 * other: all launches are seen, and no more lines than one can tell apart.
 */
function bundlesOf(view, flows) {
    const FEW = 150, ROOM = 12, { spans } = view.recording, bundles = [], seen = new Set(), { gutter, from } = view, scale = view.width / view.span;
    for (const [call, row, i] of flows) {
        const of = spans.call[i], x0 = gutter + (spans.start[of] + spans.length[of] / 2 - from) * scale, x1 = gutter + (spans.start[i] - from) * scale;
        if (flows.length > FEW) { /* pixels and rows are below 4096 */
            const key = ((Math.round(x0 / ROOM) * 4096 + Math.round(x1 / ROOM)) * 4096 + view.rowNumbers[of]) * 4096 + view.rowNumbers[i];
            if (seen.has(key))
                continue;
            seen.add(key);
        }
        bundles.push({ call, row, x0, x1 });
    }
    return bundles;
}

function drawFlows(view, pen, wide, high) {
    const flows = view.flows && view.recording.kinds.length ? bundlesOf(view, flowsInSight(view)) : [];
    view.drawnFlows = flows;
    if (!flows.length)
        return;
    pen.save();
    pen.beginPath();
    pen.rect(view.gutter, AXIS, wide - view.gutter, high);
    pen.clip();
    pen.beginPath();
    for (const { call, row, x0, x1 } of flows) {
        const up = view.yOf(call) > view.yOf(row);
        const y0 = view.yOf(call) + (up ? 0 : ROW - 1), y1 = view.yOf(row) + (up ? ROW - 1 : 0), back = up ? 4 : -4;
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.moveTo(x1 - 2, y1 + back);
        pen.lineTo(x1, y1);
        pen.lineTo(x1 + 2, y1 + back);
    }
    pen.strokeStyle = view.colors["--text"];
    pen.lineWidth = 0.7;
    pen.globalAlpha = Math.max(0.16, 0.6 - flows.length / 400);
    pen.stroke();
    pen.restore();
}
