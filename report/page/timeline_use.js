/* ---- the legend of a timeline, and what the mouse and buttons do with it ---- */

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
        view.pointed = x > view.gutter ? view.timeAt(x) : undefined;
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
    canvas.addEventListener("pointerleave", () => {
        tip.hidden = true;
        view.pointed = undefined;
    });
    canvas.addEventListener("dblclick", () => enter(view, view.chosen)); /* which the first click chose, whatever moved since */
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
    const found = view.at(x, y), finding = y < AXIS ? view.findings.find(({ flag }) => flag && x >= flag[0] && x <= flag[1]) : null;
    if (finding) {
        finding.open();
        return;
    }
    if (found.lane && x > view.gutter - PIN_ROOM - 4) {
        togglePin(view, found.lane);
        return;
    }
    if (found.lane) {
        found.lane.open = !found.lane.open;
        layOutAgain(view);
        return;
    }
    view.moment = found.time;
    view.range = null;
    view.choose(found.i);
}

function showTip(view, x, y) {
    const { tip, recording } = view, { i, lane } = view.at(x, y);
    tip.hidden = i < 0 && !lane;
    if (tip.hidden)
        return;
    tip.textContent = lane ? `${titleOfLane(lane)}: a click ${x > view.gutter - PIN_ROOM - 4 ? isPinned(lane) ? "unpins it" : "pins it on top" : "folds it"}`
        : `${recording.shortOf(i)}: ${timeText(recording.spans.length[i])}`;
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
        return { at: Math.max(0, (event.clientX - area.left - view.gutter) / view.width * recording.length), y: event.clientY - area.top };
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
            const step = stepAt(view, at);
            if (y < STEP_BAR && step >= 0)
                view.openStep(step);
            else
                view.show(at - view.span / 2, view.span);
        }
        first = null;
    });
    overview.addEventListener("pointercancel", () => { first = null; });
}

/* ---- buttons ---- */

function setUpTimeline(view) {
    const { root, recording } = view;
    const acts = {
        in: () => view.zoom(0.6), out: () => view.zoom(1 / 0.6), all: () => view.show(0, recording.length),
        next: () => view.nextMatch(1), previous: () => view.nextMatch(-1),
        earlier: () => nextStep(view, -1), later: () => nextStep(view, 1), full: () => toggleFull(view), shrink: () => shrink(view), flows: () => toggleFlows(view),
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
    const select = root.querySelector("select[id^=step]");
    if (select) {
        select.append(new Option("all", ""));
        view.listSteps = () => { /* of many, it would be the most of what the page does before it is seen */
            view.listSteps = () => {};
            select.append(...recording.steps.map((step, k) => new Option(recording.files.length > 1
                ? `${step.number}, ${recording.files[step.file].group}` : String(step.number), String(k))));
        };
        if (recording.steps.length <= 200)
            view.listSteps();
        select.addEventListener("focus", () => view.listSteps());
        select.addEventListener("change", () => select.value === "" ? view.show(0, recording.length) : view.openStep(Number(select.value)));
    }
    addRankSelects(view);
    addLegend(view);
    followPointer(view);
    followOverview(view);
    followKeys(view);
}

/* A function from a name to the colour of its events in the timelines, the first that has any; they are looked through when it is first
 * asked. */
function colorsOfNames() {
    let colors = null;
    return (name) => {
        if (!colors) {
            colors = new Map();
            for (const { recording } of timelines.filter((view) => view.recording.kinds.length)) {
                const { spans, kinds } = recording, seen = new Set();
                for (let i = 0; i < spans.count; i++) {
                    if (seen.has(spans.name[i]) || ["idle", "critical path"].includes(kinds[spans.kind[i]].group))
                        continue;
                    seen.add(spans.name[i]);
                    if (!colors.has(recording.nameOf(i)))
                        colors.set(recording.nameOf(i), kinds[spans.kind[i]].color);
                }
            }
        }
        return colors.get(name);
    };
}

timelines = [...document.querySelectorAll(".timeline")].map((root) => new Timeline(root, readData(root.dataset.timeline)));
colorOfEvents = colorsOfNames();
flames.forEach((flame) => flame.draw());
linkTables();
followDrawnSteps();
followHash();
followPageKeys();
addEventListener("hashchange", followHash);
