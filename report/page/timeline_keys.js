/* ---- keys of timelines: wherever one reads, those that no other element takes act on the timeline in sight ---- */

/* The next event of the row in direction SIGN; the first in sight when none is chosen. */
function stepRow(view, sign) {
    const { recording, chosen } = view, { start } = recording.spans;
    if (chosen >= 0 && view.chosenRow) {
        const { list } = view.chosenRow;
        const next = list[list.indexOf(chosen) + sign];
        if (next !== undefined)
            view.choose(next, "move");
        return;
    }
    for (const row of view.rows) {
        const i = row.list[recording.firstAfter(row.list, view.from)];
        if (i !== undefined && start[i] < view.from + view.span) {
            view.choose(i, "move");
            return;
        }
    }
}

function nextStep(view, sign) {
    const now = view.step !== undefined ? view.step : stepAt(view, view.from + view.span / 2) - sign;
    view.openStep(Math.max(0, Math.min(view.recording.steps.length - 1, now + sign)));
}

function toggleLane(view) {
    if (view.chosen < 0)
        return;
    const lane = view.recording.lanes[view.recording.spans.lane[view.chosen]];
    lane.open = !lane.open;
    layOutAgain(view);
}

/* What was in use AT, or in the middle of what is in sight. */
function openMoment(view, at = view.from + view.span / 2) {
    if (!view.recording.data.alive)
        return;
    view.moment = at;
    view.range = null;
    view.choose(-1);
}

/* What the dialog lists: keys, and what they do. */
const keyTexts = [
    ["w s", "zoom in and out (and arrows up and down, + and -)"], ["a d", "earlier and later (and arrows to the sides)"],
    ["0", "the whole recording"], ["n p", "next and previous event of the row"], ["[ ]", "previous and next step"],
    ["Enter", "zoom to the selected event"], ["o", "fold the lane of the selected event"], ["t", "pin the lane of the selected event"],
    ["m", "set or remove a mark where the pointer is; of a snapshot, list what was in use"], ["l", "arrows from calls to what they launched"],
    ["f", "full window, and back"], ["/", "find"], ["Escape", "clear the selection"], ["?", "this list"],
];

function showKeys() {
    let dialog = document.querySelector("dialog.keys");
    if (!dialog) {
        const close = element("button", "Close");
        close.type = "button";
        dialog = element("dialog", "", [element("h2", "Keys of the timeline"), listOf(keyTexts), close]);
        dialog.className = "keys";
        dialog.setAttribute("aria-label", "Keys of the timeline");
        close.addEventListener("click", () => dialog.close());
        document.body.append(dialog);
    }
    if (dialog.open)
        dialog.close();
    else
        dialog.showModal();
}

function toggleFull(view) {
    const full = view.root.classList.toggle("full");
    document.documentElement.classList.toggle("has-full", full);
    const button = view.root.querySelector("[data-do=full]");
    button.setAttribute("aria-pressed", String(full));
    if (!full)
        view.root.scrollIntoView({ behavior: "instant" });
    view.draw(true);
}

function toggleFlows(view) {
    view.flows = !view.flows;
    view.root.querySelector("[data-do=flows]").setAttribute("aria-pressed", String(view.flows));
    view.draw();
}

function clearChoice(view) {
    if (view.root.classList.contains("full") && view.chosen < 0 && !view.range) {
        toggleFull(view);
        return;
    }
    view.range = null;
    view.moment = undefined;
    view.choose(-1);
    view.show(0, view.recording.length);
}

function keysOf(view) {
    const all = () => view.show(0, view.recording.length);
    const chosenLane = () => view.recording.lanes[view.recording.spans.lane[view.chosen]];
    return {
        a: () => view.show(view.from - view.span * 0.15, view.span), d: () => view.show(view.from + view.span * 0.15, view.span),
        w: () => view.zoom(0.7), s: () => view.zoom(1 / 0.7), 0: all, n: () => stepRow(view, 1), p: () => stepRow(view, -1),
        "[": () => nextStep(view, -1), "]": () => nextStep(view, 1), o: () => toggleLane(view),
        t: () => { if (view.chosen >= 0) togglePin(view, chosenLane()); },
        m: () => view.recording.data.alive ? openMoment(view) : toggleMark(view), l: () => toggleFlows(view),
        f: () => toggleFull(view), "/": () => view.root.querySelector("input[type=search]").focus(), "?": showKeys,
        Escape: () => clearChoice(view),
    };
}

/* Those that scroll the page, too: only where the timeline has the focus. */
function ownKeysOf(view) {
    return {
        ...keysOf(view),
        ArrowLeft: () => view.show(view.from - view.span * 0.15, view.span),
        ArrowRight: () => view.show(view.from + view.span * 0.15, view.span),
        ArrowUp: () => view.zoom(0.7), ArrowDown: () => view.zoom(1 / 0.7),
        "+": () => view.zoom(0.7), "-": () => view.zoom(1 / 0.7), Home: () => view.show(0, view.recording.length),
        PageDown: () => { view.box.scrollTop += 160; }, PageUp: () => { view.box.scrollTop -= 160; },
        Enter: () => enter(view, view.chosen),
    };
}

function actOn(event, keys) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !keys[event.key])
        return;
    event.preventDefault();
    keys[event.key]();
}

function followKeys(view) {
    const keys = ownKeysOf(view);
    view.canvas.addEventListener("keydown", (event) => actOn(event, keys));
}

/* The timeline of which most is in the window; undefined: none is. */
function viewInSight() {
    const seen = (view) => {
        const area = view.root.getBoundingClientRect();
        return Math.min(area.bottom, innerHeight) - Math.max(area.top, 0);
    };
    return timelines.filter((view) => seen(view) > 60).sort((a, b) => seen(b) - seen(a))[0];
}

function followPageKeys() {
    document.addEventListener("keydown", (event) => {
        if (event.target.closest("input, select, textarea, dialog, canvas") || document.querySelector("dialog[open]"))
            return;
        const view = viewInSight();
        if (view) {
            actOn(event, keysOf(view));
            return;
        }
        const first = timelines[0], find = document.querySelector(".view input[type=search], .timeline input[type=search], .tools input[type=search]");
        actOn(event, {
            "/": () => { if (find) find.focus(); },
            ...(first ? { f: () => toggleFull(first), "?": showKeys } : {}),
        });
    });
}
