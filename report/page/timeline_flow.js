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

/* The work in sight whose call is in sight, too; null: so much that arrows would hide it. */
function flowsInSight(view) {
    const MOST = 150, { recording, from } = view, { spans } = recording, found = [];
    for (const row of view.rows) {
        if (row.lane.place !== 0 || !isRowInSight(view, row))
            continue;
        for (let k = recording.firstAfter(row.list, from); k < row.list.length && spans.start[row.list[k]] < from + view.span; k++) {
            const i = row.list[k], call = recording.isWork(i) ? view.rowOfSpan(spans.call[i]) : undefined;
            if (!call || !isRowInSight(view, call) || spans.start[spans.call[i]] < from)
                continue;
            found.push([call, row, i]);
            if (found.length > MOST)
                return null;
        }
    }
    return found;
}

function drawFlows(view, pen, wide, high) {
    const { spans } = view.recording, flows = view.flows && view.recording.kinds.length ? flowsInSight(view) : null;
    if (!flows || !flows.length)
        return;
    pen.save();
    pen.beginPath();
    pen.rect(view.gutter, AXIS, wide - view.gutter, high);
    pen.clip();
    pen.beginPath();
    for (const [call, row, i] of flows) {
        const up = view.yOf(call) > view.yOf(row);
        const x0 = view.xOf(spans.start[spans.call[i]] + spans.length[spans.call[i]] / 2), y0 = view.yOf(call) + (up ? 0 : ROW - 1);
        const x1 = view.xOf(spans.start[i]), y1 = view.yOf(row) + (up ? ROW - 1 : 0), back = up ? 4 : -4;
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.moveTo(x1 - 2, y1 + back);
        pen.lineTo(x1, y1);
        pen.lineTo(x1 + 2, y1 + back);
    }
    pen.strokeStyle = view.colors["--text"];
    pen.lineWidth = 0.7;
    pen.globalAlpha = Math.max(0.2, 0.6 - flows.length / 400);
    pen.stroke();
    pen.restore();
}
