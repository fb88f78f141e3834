/* ---- the overview: the whole recording above the lanes, on the same axis ---- */

const STRIP = 26, STEP_BAR = 14, MOST_STRIPS = 4;

/* How much of STRIP is idle, or communicates where nothing is idle; what tells devices apart. */
function idleOf(recording, strip) {
    const { bins } = recording.data;
    let sum = 0;
    strip.kinds.forEach((kind, place) => {
        if (recording.kinds[kind].group === "idle" || recording.kinds[kind].title === "communication")
            for (let bin = 0; bin < bins; bin++)
                sum += strip.shares[place * bins + bin];
    });
    return sum;
}

/* The mean of STRIPS, as a strip. */
function meanStrip(recording, strips) {
    const { bins } = recording.data, kinds = [...new Set(strips.flatMap((strip) => [...strip.kinds]))];
    const shares = new Float64Array(kinds.length * bins);
    for (const strip of strips)
        strip.kinds.forEach((kind, place) => {
            const to = kinds.indexOf(kind) * bins;
            for (let bin = 0; bin < bins; bin++)
                shares[to + bin] += strip.shares[place * bins + bin] / strips.length;
        });
    return { title: `${strips.length} others, mean`, kinds, shares };
}

/* The strips that are drawn: of many the outliers, and the mean of the others as one. */
function shownStrips(recording) {
    const { strips } = recording;
    if (strips.length <= MOST_STRIPS)
        return strips;
    const idle = strips.map((strip) => idleOf(recording, strip)), median = [...idle].sort((a, b) => a - b)[idle.length >> 1];
    const order = strips.map((strip, k) => k).sort((a, b) => Math.abs(idle[b] - median) - Math.abs(idle[a] - median) || a - b);
    const outliers = order.slice(0, MOST_STRIPS - 1).sort((a, b) => a - b);
    return [...outliers.map((k) => strips[k]), meanStrip(recording, strips.filter((strip, k) => !outliers.includes(k)))];
}

/* All of the recording: the shares of each bin one on top of the other, busy below idle; the steps; what is in sight. */
function paintOverview(view, pen, wide) {
    const { recording, colors } = view;
    const { bins } = recording.data;
    const { gutter } = view, room = wide - gutter;
    let y = STEP_BAR;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const stripes = stripesOf(pen, colors["--back"]);
    for (const strip of shownStrips(recording)) {
        const parts = [...strip.kinds].map((kind, place) => ({ kind: recording.kinds[kind], place }));
        const [idle, busy] = [true, false].map((is) => parts.filter(({ kind }) => (kind.group === "idle") === is));
        const high = STRIP - 2, tops = new Float64Array(bins);
        const corner = (bin, at) => pen.lineTo(gutter + Math.floor(at / bins * room), y + high - tops[bin]);
        const stack = ({ kind, place }) => { /* one shape takes a fraction of the time of as many boxes */
            pen.fillStyle = colors[kind.color];
            pen.beginPath();
            for (let bin = bins - 1; bin >= 0; bin--) {
                corner(bin, bin + 1);
                corner(bin, bin);
            }
            for (let bin = 0; bin < bins; bin++) {
                tops[bin] += strip.shares[place * bins + bin] / 255 * high;
                corner(bin, bin);
                corner(bin, bin + 1);
            }
            pen.fill();
        };
        /* Idle time is what lies above busy time; it is striped, so that one colour may stand for a kernel and for a cause. */
        for (const { place } of busy)
            tops.forEach((top, bin) => { tops[bin] += strip.shares[place * bins + bin] / 255 * high; });
        idle.forEach(stack);
        pen.fillStyle = stripes;
        pen.fillRect(gutter, y, room, high);
        tops.fill(0);
        busy.forEach(stack);
        pen.fillStyle = colors["--text"];
        pen.fillText(fittedTitle(pen, strip.title, gutter - 10, false), 4, y + STRIP / 2);
        y += STRIP;
    }
    let last = -Infinity, drawn = -Infinity;
    for (const step of recording.steps.filter((of) => of.file === recording.steps[0].file)) {
        const left = gutter + step.at / recording.length * room, right = gutter + (step.at + step.length) / recording.length * room;
        if (right < drawn + 1) /* of very many steps those that have a pixel */
            continue;
        drawn = right;
        pen.fillStyle = colors["--accent"];
        pen.fillRect(left, 2, Math.max(1, right - left - 1), STEP_BAR - 5);
        const text = String(step.number), size = right - left > 8 ? widthOf(pen, text) + 8 : Infinity;
        if (right - left > size && left > last) {
            pen.fillStyle = isDark(colors["--accent"]) ? "#ffffff" : "#0c1116";
            pen.fillText(text, left + 4, STEP_BAR / 2);
            last = left + size;
        }
    }
    if (recording.steps.length) {
        pen.fillStyle = colors["--faint"];
        pen.fillText("steps", 4, STEP_BAR / 2);
    }
}

function drawOverview(view, ratio) {
    const { overview, recording, colors } = view;
    const { wide, gutter } = view, high = STEP_BAR + Math.min(recording.strips.length, MOST_STRIPS) * STRIP;
    overview.hidden = recording.strips.length + recording.steps.length === 0;
    if (!view.picture || overview.width !== Math.round(wide * ratio)) {
        overview.style.height = `${high}px`;
        overview.style.width = `${wide}px`; /* the lanes have a scroll bar beside them */
        overview.width = Math.round(wide * ratio);
        overview.height = Math.round(high * ratio);
        view.picture = document.createElement("canvas");
        view.picture.width = overview.width;
        view.picture.height = overview.height;
        const pen = view.picture.getContext("2d");
        pen.scale(ratio, ratio);
        paintOverview(view, pen, wide);
    }
    const pen = overview.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, overview.width, overview.height);
    pen.drawImage(view.picture, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const xOf = (at) => gutter + at / recording.length * (wide - gutter), left = xOf(view.from), right = xOf(view.from + view.span);
    pen.fillStyle = colors["--back"];
    pen.globalAlpha = 0.6;
    pen.fillRect(gutter, 0, left - gutter, high);
    pen.fillRect(right, 0, wide - right, high);
    pen.globalAlpha = 1;
    pen.strokeStyle = colors["--text"];
    pen.lineWidth = 1.5;
    pen.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 2), high - 1.5);
    pen.fillStyle = colors["--vermilion"];
    for (const i of view.matches.slice(0, 2000))
        pen.fillRect(xOf(recording.spans.start[i]), high - 5, 2, 5);
}
