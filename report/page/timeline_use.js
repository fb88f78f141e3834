/* ---- the overview of a recording, its legend, and what mouse and keys do with a timeline ---- */

const STRIP = 26, STEP_BAR = 14;

/* All of the recording: the shares of each bin one on top of the other, busy below idle; the steps; what is in sight. */
function paintOverview(view, pen, wide) {
    const { recording, colors } = view;
    const { bins } = recording.data;
    let y = STEP_BAR;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const strip of recording.strips) {
        const parts = strip.kinds.map((kind, place) => ({ kind: recording.kinds[kind], place }));
        const [idle, busy] = [true, false].map((is) => parts.filter(({ kind }) => (kind.group === "idle") === is));
        const high = STRIP - 2, tops = new Float64Array(bins);
        const stack = ({ kind, place }) => {
            pen.fillStyle = colors[kind.color];
            for (let bin = 0; bin < bins; bin++) {
                const tall = strip.shares[place * bins + bin] / 255 * high;
                const left = Math.floor(bin / bins * wide), right = Math.max(left + 1, Math.floor((bin + 1) / bins * wide));
                if (tall > 0)
                    pen.fillRect(left, y + high - tops[bin] - tall, right - left, tall);
                tops[bin] += tall;
            }
        };
        /* Idle time is what lies above busy time; it is striped, so that one colour may stand for a kernel and for a cause. */
        for (const { place } of busy)
            tops.forEach((top, bin) => { tops[bin] += strip.shares[place * bins + bin] / 255 * high; });
        idle.forEach(stack);
        pen.fillStyle = colors["--back"];
        for (let line = 1; line < high; line += 3)
            pen.fillRect(0, y + line, wide, 1);
        tops.fill(0);
        busy.forEach(stack);
        const width = pen.measureText(strip.title).width + 8;
        pen.fillStyle = colors["--back"];
        pen.globalAlpha = 0.75;
        pen.fillRect(0, y + 4, width, 16);
        pen.globalAlpha = 1;
        pen.fillStyle = colors["--text"];
        pen.fillText(strip.title, 4, y + 12);
        y += STRIP;
    }
    let last = -Infinity;
    for (const step of recording.steps.filter((of) => of.file === recording.steps[0].file)) {
        const left = step.at / recording.length * wide, right = (step.at + step.length) / recording.length * wide;
        pen.fillStyle = colors["--accent"];
        pen.fillRect(left, 2, Math.max(1, right - left - 1), STEP_BAR - 5);
        const text = String(step.number);
        if (right - left > text.length * 7 + 6 && left > last) {
            pen.fillStyle = isDark(colors["--accent"]) ? "#ffffff" : "#0c1116";
            pen.fillText(text, left + 4, STEP_BAR / 2);
            last = left + text.length * 7 + 6;
        }
    }
}

function drawOverview(view, ratio) {
    const { overview, recording, colors } = view;
    const { wide } = view, high = STEP_BAR + recording.strips.length * STRIP;
    overview.hidden = recording.strips.length + recording.steps.length === 0;
    if (!view.picture || overview.width !== Math.round(wide * ratio)) {
        overview.style.height = `${high}px`;
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
    const left = view.from / recording.length * wide, right = (view.from + view.span) / recording.length * wide;
    pen.fillStyle = colors["--back"];
    pen.globalAlpha = 0.6;
    pen.fillRect(0, 0, left, high);
    pen.fillRect(right, 0, wide - right, high);
    pen.globalAlpha = 1;
    pen.strokeStyle = colors["--text"];
    pen.lineWidth = 1.5;
    pen.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 2), high - 1.5);
    pen.fillStyle = colors["--vermilion"];
    for (const i of view.matches.slice(0, 2000))
        pen.fillRect(recording.spans.start[i] / recording.length * wide, high - 5, 2, 5);
}

function addLegend(view) {
    const { recording } = view;
    const legend = view.root.querySelector(".legend");
    const used = new Set(recording.spans.kind);
    recording.strips.forEach((strip) => strip.kinds.forEach((kind) => used.add(kind)));
    let group = "";
    recording.kinds.forEach((kind, number) => {
        if (!used.has(number))
            return;
        if (kind.group !== group)
            legend.append(element("li", "", [element("b", `${kind.group}:`)]));
        group = kind.group;
        const swatch = element("i");
        swatch.style.backgroundColor = `var(${kind.color})`;
        swatch.classList.toggle("striped", kind.group === "idle");
        legend.append(element("li", "", [swatch, kind.title]));
    });
}

/* ---- mouse ---- */

function followPointer(view) {
    const { canvas, tip } = view;
    let drag = null;
    const place = (event) => {
        const area = canvas.getBoundingClientRect();
        return { x: event.clientX - area.left, y: event.clientY - area.top };
    };
    canvas.addEventListener("pointerdown", (event) => {
        const { x, y } = place(event);
        drag = { x, y, from: view.from, top: view.box.scrollTop, moved: false, adds: event.shiftKey || y < AXIS, at: view.timeAt(x) };
        if (event.isTrusted)
            canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
        const { x, y } = place(event);
        if (!drag) {
            showTip(view, x, y);
            return;
        }
        tip.hidden = true;
        drag.moved = drag.moved || Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
        if (drag.moved && drag.adds)
            view.choseRange(Math.min(drag.at, view.timeAt(x)), Math.max(drag.at, view.timeAt(x)));
        else if (drag.moved) {
            view.show(drag.from - (x - drag.x) / view.width * view.span, view.span);
            view.box.scrollTop = drag.top - (y - drag.y);
        }
    });
    canvas.addEventListener("pointerup", (event) => {
        if (drag && !drag.moved)
            click(view, place(event));
        drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => {
        const { x, y } = place(event);
        enter(view, view.at(x, y).i);
    });
    canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY))
            return; /* the lanes scroll, then the page */
        event.preventDefault();
        if (event.ctrlKey || event.metaKey)
            view.zoom(event.deltaY > 0 ? 1.25 : 0.8, view.timeAt(place(event).x));
        else
            view.show(view.from + (event.deltaX || event.deltaY) / view.width * view.span, view.span);
    }, { passive: false });
    view.box.addEventListener("scroll", () => view.draw());
}

function click(view, { x, y }) {
    const found = view.at(x, y);
    if (found.lane) {
        found.lane.open = !found.lane.open;
        view.layOut();
        view.choose(view.chosen);
        view.draw(true);
        return;
    }
    view.moment = found.time;
    view.range = null;
    view.choose(found.i);
}

function showTip(view, x, y) {
    const { tip, recording } = view, { i } = view.at(x, y);
    tip.hidden = i < 0;
    if (i < 0)
        return;
    tip.textContent = `${recording.nameOf(i)}: ${timeText(recording.spans.length[i])}`;
    const { wide } = view, top = view.overview.clientHeight + y + 16;
    tip.style.top = `${top}px`;
    tip.style.left = `${Math.max(0, Math.min(x + 12, wide - tip.offsetWidth - 8))}px`;
}

function enter(view, i) {
    if (i >= 0)
        view.show(view.recording.spans.start[i] - view.recording.spans.length[i] * 0.1, view.recording.spans.length[i] * 1.2);
}

function followOverview(view) {
    const { overview, recording } = view;
    let first = null;
    const timeAt = (event) => {
        const area = overview.getBoundingClientRect();
        return { at: (event.clientX - area.left) / area.width * recording.length, y: event.clientY - area.top };
    };
    overview.addEventListener("pointerdown", (event) => {
        first = timeAt(event);
        if (event.isTrusted)
            overview.setPointerCapture(event.pointerId);
    });
    overview.addEventListener("pointermove", (event) => {
        if (!first)
            return;
        const { at } = timeAt(event);
        if (Math.abs(at - first.at) > recording.length / 300)
            view.show(Math.min(at, first.at), Math.abs(at - first.at));
    });
    overview.addEventListener("pointerup", (event) => {
        const { at, y } = timeAt(event);
        if (first && Math.abs(at - first.at) <= recording.length / 300) {
            const step = stepOf(view, at);
            if (y < STEP_BAR && step >= 0)
                view.openStep(step);
            else
                view.show(at - view.span / 2, view.span);
        }
        first = null;
    });
    overview.addEventListener("pointercancel", () => { first = null; });
}

/* ---- keys and buttons ---- */

/* The next event of the row in direction SIGN; the first in sight when none is chosen. */
function stepRow(view, sign) {
    const { recording, chosen } = view, { start } = recording.spans;
    if (chosen >= 0 && view.chosenRow) {
        const { list } = view.chosenRow;
        const next = list[list.indexOf(chosen) + sign];
        if (next !== undefined)
            view.choose(next, true);
        return;
    }
    for (const row of view.rows) {
        const i = row.list[recording.firstAfter(row.list, view.from)];
        if (i !== undefined && start[i] < view.from + view.span) {
            view.choose(i, true);
            return;
        }
    }
}

function nextStep(view, sign) {
    const now = view.step !== undefined ? view.step : stepOf(view, view.from + view.span / 2) - sign;
    view.openStep(Math.max(0, Math.min(view.recording.steps.length - 1, now + sign)));
}

function toggleLane(view) {
    if (view.chosen < 0)
        return;
    const lane = view.recording.lanes[view.recording.spans.lane[view.chosen]];
    lane.open = !lane.open;
    view.layOut();
    view.chosenRow = view.rowOfSpan(view.chosen);
    view.draw(true);
}

/* What was in use AT, or in the middle of what is in sight. */
function openMoment(view, at = view.from + view.span / 2) {
    if (!view.recording.data.alive)
        return;
    view.moment = at;
    view.range = null;
    view.choose(-1);
}

function followKeys(view) {
    const all = () => view.show(0, view.recording.length);
    const keys = {
        ArrowLeft: () => view.show(view.from - view.span * 0.15, view.span),
        ArrowRight: () => view.show(view.from + view.span * 0.15, view.span),
        ArrowUp: () => view.zoom(0.7), ArrowDown: () => view.zoom(1 / 0.7),
        "+": () => view.zoom(0.7), "-": () => view.zoom(1 / 0.7),
        a: () => view.show(view.from - view.span * 0.15, view.span), d: () => view.show(view.from + view.span * 0.15, view.span),
        w: () => view.zoom(0.7), s: () => view.zoom(1 / 0.7),
        Home: all, 0: all, n: () => stepRow(view, 1), p: () => stepRow(view, -1),
        "[": () => nextStep(view, -1), "]": () => nextStep(view, 1), o: () => toggleLane(view), m: () => openMoment(view),
        PageDown: () => { view.box.scrollTop += 160; }, PageUp: () => { view.box.scrollTop -= 160; },
        Enter: () => enter(view, view.chosen),
        Escape: () => { view.range = null; view.moment = undefined; view.choose(-1); all(); },
    };
    view.canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
            return;
        event.preventDefault();
        keys[event.key]();
    });
}

function setUpTimeline(view) {
    const { root, recording } = view;
    const acts = {
        in: () => view.zoom(0.6), out: () => view.zoom(1 / 0.6), all: () => view.show(0, recording.length),
        next: () => view.nextMatch(1), previous: () => view.nextMatch(-1),
        earlier: () => nextStep(view, -1), later: () => nextStep(view, 1),
        frames: (button) => {
            view.allFrames = !view.allFrames;
            button.setAttribute("aria-pressed", String(view.allFrames));
            view.layOut();
            view.choose(view.chosen);
            view.draw(true);
        },
    };
    for (const button of root.querySelectorAll("[data-do]"))
        button.addEventListener("click", () => acts[button.dataset.do](button));
    root.querySelector("[data-do=frames]").hidden = !recording.spans.folded.includes(1);
    const input = root.querySelector("input[type=search]");
    input.addEventListener("input", () => view.search(input.value));
    input.addEventListener("keydown", (event) => {
        if (event.key === "Enter")
            view.nextMatch(event.shiftKey ? -1 : 1);
    });
    const select = root.querySelector("select");
    if (select) {
        select.append(new Option("all", ""), ...recording.steps.map((step, k) => new Option(recording.files.length > 1
            ? `${step.number}, rank ${recording.files[step.file].rank}` : String(step.number), String(k))));
        select.addEventListener("change", () => select.value === "" ? view.show(0, recording.length) : view.openStep(Number(select.value)));
    }
    addLegend(view);
    followPointer(view);
    followOverview(view);
    followKeys(view);
}

timelines = [...document.querySelectorAll(".timeline")].map((root) => new Timeline(root, readData(root.dataset.timeline)));
linkTables();
followHash();
addEventListener("hashchange", followHash);
