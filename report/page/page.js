"use strict";

/* ---- tables: sort, filter, copy, more rows, more columns ---- */

/* Long names are shown shortened; their title is the whole. */
function textOf(cell) {
    return cell.tagName === "TD" && cell.title ? cell.title : cell.textContent;
}

function setUpTable(box) {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const told = box.querySelector(".told-rows"); /* this and what follows: where the table is long */
    const filter = box.querySelector("input[type=search]");
    const rows = [...body.rows];
    const moreRows = box.querySelector(".more-rows");
    const limit = Number(box.dataset.limit);

    /* Of the rows that the filter lets through the first LIMIT are shown, in the order they are sorted in. */
    function show() {
        const words = (filter ? filter.value : "").toLowerCase().split(/\s+/).filter(Boolean);
        let kept = 0;
        for (const row of body.rows) {
            const text = [...row.cells].map(textOf).join(" ").toLowerCase();
            const fits = words.every((word) => text.includes(word));
            row.classList.toggle("out", !fits);
            row.classList.toggle("more", fits && kept >= limit);
            kept += fits ? 1 : 0;
        }
        const all = table.classList.contains("all-rows");
        const shown = all ? kept : Math.min(kept, limit);
        if (told)
            told.textContent = `${shown} of ${rows.length} rows`;
        if (moreRows) {
            moreRows.hidden = kept <= limit;
            moreRows.textContent = all ? "Fewer rows" : `All ${kept} rows`;
            moreRows.setAttribute("aria-pressed", String(all));
        }
    }

    function keyOf(cell) {
        if (cell.dataset.v !== undefined)
            return Number(cell.dataset.v);
        return cell.classList.contains("n") ? NaN : textOf(cell);
    }

    /* Missing cells come last, whichever way round. */
    function compare(a, b, sign) {
        if (typeof a === "number") {
            if (Number.isNaN(a) || Number.isNaN(b))
                return Number.isNaN(a) - Number.isNaN(b);
            return sign * (a - b);
        }
        return sign * (a < b ? -1 : a > b ? 1 : 0);
    }

    heads.forEach((head, index) => {
        const button = head.querySelector("button");
        button.addEventListener("click", () => {
            const numeric = head.classList.contains("n");
            const now = head.getAttribute("aria-sort");
            const next = now === "descending" || (now === "none" && !numeric) ? "ascending" : "descending";
            const sign = next === "ascending" ? 1 : -1;
            heads.forEach((other) => other.setAttribute("aria-sort", other === head ? next : "none"));
            const keyed = rows.map((row, place) => ({ row, place, key: keyOf(row.cells[index]) }));
            keyed.sort((a, b) => compare(a.key, b.key, sign) || a.place - b.place);
            body.append(...keyed.map((item) => item.row));
            show();
        });
    });

    if (filter)
        filter.addEventListener("input", show);
    if (moreRows)
        moreRows.addEventListener("click", () => {
            table.classList.toggle("all-rows");
            show();
        });
    const columns = box.querySelector(".more-columns");
    if (columns)
        columns.addEventListener("click", () => {
            const all = table.classList.toggle("all-columns");
            columns.setAttribute("aria-pressed", String(all));
        });
    box.querySelector(".copy").addEventListener("click", async (event) => {
        const lines = [heads, ...[...body.rows].filter((row) => !row.classList.contains("out")).map((row) => [...row.cells])]
            .map((cells) => cells.map((cell) => textOf(cell).trim().replace(/\s+/g, " ")).join("\t"));
        const text = lines.join("\n") + "\n";
        let done = true;
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            const area = document.createElement("textarea"); /* pages opened from disk may have no clipboard */
            area.value = text;
            document.body.append(area);
            area.select();
            done = document.execCommand("copy");
            area.remove();
        }
        event.target.textContent = done ? "Copied" : "Cannot copy here";
        setTimeout(() => { event.target.textContent = "Copy"; }, 1500);
    });
    show();
}

/* ---- figures ---- */

function timeText(ns) {
    const size = Math.abs(ns);
    if (size < 1000)
        return `${ns}ns`;
    if (size < 1e6)
        return `${(ns / 1e3).toFixed(3)}us`;
    if (size < 1e9)
        return `${(ns / 1e6).toFixed(3)}ms`;
    return `${(ns / 1e9).toFixed(3)}s`;
}

function bytesText(bytes) {
    const units = ["B", "KB", "MB", "GB", "TB"];
    let unit = 0;
    for (; Math.abs(bytes) >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    return unit ? `${bytes.toFixed(2)} ${units[unit]}` : `${bytes} B`;
}

/* The same without zeros that tell nothing, for the marks of an axis. */
function markText(ns) {
    return timeText(ns).replace(/\.(\d*?)0+(?=[num]?s)/, (all, digits) => digits ? `.${digits}` : "");
}

/* Steps of 1, 2 or 5 times a power of ten, about COUNT of them in LENGTH. */
function roundStep(length, count) {
    const rough = length / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

const palette = ["--blue", "--orange", "--green", "--vermilion", "--sky", "--purple", "--olive"], greys = ["--grey", "--pale"], kindsOnly = ["--azure", "--brown", "--indigo", "--coffee"];

/* What flames draw and no timeline has, by its name: the colours of the timeline's kinds. */
const nameKinds = [
    [/DataLoaderIter/, "--coffee"],
    [/^(cu|cuda|hip)[A-Z]\w*(Synchronize|Query)/, "--indigo"], [/^(cu|cuda|hip)[A-Z]\w*$/, "--orange"],
    [/\/torch\/|^torch\/.*\.py/, "--grey"], [/\.py(\(\d+\)|:\d+)/, "--purple"], [/^nn\.Module: |^ProfilerStep|^## /, "--brown"],
    [/nccl/i, "--vermilion"], [/^Memcpy/, "--green"], [/^Memset/, "--green"], [/^\w+::[\w:.]+$/, "--sky"],
    [/^[{<]/, "--purple"],
    [/gemm|gemv|xmma|cutlass|fprop|dgrad|wgrad|winograd/i, "--blue"], [/^void |kernel|triton/i, "--azure"],
];

function kindColorOf(name) {
    return (nameKinds.find(([pattern]) => pattern.test(name)) || ["", "--sky"])[1];
}

/* The functions or lines of code that are parts of the bar of the answer: the end of what they are called in full, and its colour there. */
const parts = [...document.querySelectorAll(".parts li")].map((item) => ({ title: item.querySelector(".what").title,
    color: [...palette, ...greys, ...kindsOnly][Number(item.querySelector(".swatch").className.match(/c(\d+)/)[1])] }));
const restOfPalette = [...palette, ...kindsOnly].filter((color) => !parts.some((part) => part.color === color)), colorsByName = new Map();

/* A name without a kind: as in the bar of the answer; others have colours that no part of the bar has. */
function colorOf(name) {
    if (colorsByName.has(name))
        return colorsByName.get(name);
    let hash = 7;
    const end = name.search(/[<(#]/); /* instances of one template, steps of one run: one colour */
    for (const letter of end > 0 ? name.slice(0, end) : name)
        hash = (hash * 31 + letter.codePointAt(0)) % 65521;
    const part = parts.find(({ title }) => name === title || name.endsWith(`/${title}`));
    const color = part ? part.color : restOfPalette[hash % restOfPalette.length];
    colorsByName.set(name, color);
    return color;
}

/* The colour of the events called NAME in the timelines, which set this; undefined: there are none. */
let colorOfEvents = () => undefined;

/* Are white letters easier to read on "#rrggbb" than black ones? By the luminance of WCAG 2. */
function isDark(color) {
    const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
        .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] < 0.179;
}

function themeColors() {
    const style = getComputedStyle(document.documentElement);
    const colors = {};
    for (const name of [...palette, ...greys, ...kindsOnly, "--back", "--card", "--text", "--faint", "--line", "--pale", "--accent", "--mark"])
        colors[name] = style.getPropertyValue(name).trim();
    return colors;
}

/* NAME in FITS letters: paths lose directories from the left, "moca/library/profile.py(53): run" becomes "profile.py(53): run". */
function shortName(name, fits) {
    if (name.length <= fits)
        return name;
    const [, size, path, rest] = name.match(/^([\d.]+ [KMGT]?B )?((?:[^\s:<>()\/]*\/)+)([^\/]+\.\w+[:(].*)$/s) || [];
    const short = path ? `${size || ""}${rest}` : name;
    return short.length > fits ? `${short.slice(0, fits - 1)}\u2026` : short;
}

/* ---- letters on a canvas ---- */

const widths = new Map();

/* How wide PEN draws TEXT; the same texts come again with each frame. */
function widthOf(pen, text) {
    const key = `${pen.font}|${text}`, known = widths.get(key);
    if (known !== undefined)
        return known;
    if (widths.size > 50000)
        widths.clear();
    const { width } = pen.measureText(text);
    widths.set(key, width);
    return width;
}

/* TEXT cut to fit ROOM; "" if fewer than three letters fit. */
function fittedText(pen, text, room) {
    const all = widthOf(pen, text);
    if (all <= room)
        return text;
    for (let letters = Math.floor(text.length * room / all); letters > 2; letters--) {
        const short = shortName(text, letters), wide = widthOf(pen, short);
        if (wide <= room)
            return short;
        letters = Math.min(letters, Math.ceil(letters * room / wide));
    }
    return "";
}

/* ---- a picture on a canvas: rows of boxes along an axis, which is zoomed and moved ---- */

class Boxes {
    constructor(root, model) {
        this.model = model;
        this.root = root;
        this.canvas = root.querySelector("canvas");
        this.told = root.querySelector(".told");
        this.from = 0;
        this.length = model.length;
        this.chosen = -1;
        this.search = "";
        this.margin = model.margin;
        this.listen();
        this.told.textContent = model.hint;
        new ResizeObserver(() => this.draw()).observe(root);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
        this.draw();
    }

    get width() {
        return this.canvas.clientWidth - this.margin;
    }

    xOf(at) {
        return this.margin + (at - this.from) / this.length * this.width;
    }

    draw() {
        const { canvas, model } = this;
        const ratio = window.devicePixelRatio || 1;
        const wide = this.root.clientWidth;
        if (wide === 0)
            return; /* not on the screen */
        canvas.style.height = `${model.height}px`;
        canvas.width = Math.round(wide * ratio);
        canvas.height = Math.round(model.height * ratio);
        const pen = canvas.getContext("2d");
        const colors = themeColors();
        pen.scale(ratio, ratio);
        pen.fillStyle = colors["--back"];
        pen.fillRect(0, 0, wide, model.height);
        pen.font = "11px system-ui, sans-serif";
        pen.textBaseline = "middle";
        model.drawBack(this, pen, colors, wide);
        pen.save();
        pen.beginPath();
        pen.rect(this.margin, 0, this.width, model.height);
        pen.clip();
        const search = this.search.toLowerCase();
        const last = this.from + this.length;
        for (let i = 0; i < model.count; i++) {
            const box = model.box(i);
            if (!box || box.at + box.length < this.from || box.at > last)
                continue;
            const left = Math.max(this.xOf(box.at), this.margin - 2);
            const right = Math.min(this.xOf(box.at + box.length), wide + 2);
            const size = Math.max(right - left, 1);
            const found = search && box.name.toLowerCase().includes(search);
            pen.globalAlpha = search && !found ? 0.25 : 1;
            pen.fillStyle = colors[model.colorOf(box.name)];
            pen.fillRect(left, box.y, size > 3 ? size - 0.5 : size, model.row - 1);
            if (i === this.chosen) {
                pen.strokeStyle = colors["--text"];
                pen.lineWidth = 2;
                pen.strokeRect(left + 1, box.y + 1, Math.max(size - 2, 1), model.row - 3);
            }
            if (size > 28)
                this.label(pen, box.name, left + 3, box.y + model.row / 2, size - 6, colors[model.colorOf(box.name)]);
        }
        pen.restore();
        pen.globalAlpha = 1;
    }

    label(pen, text, x, y, room, color) {
        pen.fillStyle = isDark(color) ? "#ffffff" : "#0c1116";
        pen.fillText(fittedText(pen, text, room), x, y);
    }

    zoom(factor, at = this.from + this.length / 2) {
        const length = Math.min(this.model.length, Math.max(this.model.least, this.length * factor));
        this.show(at - (at - this.from) * (length / this.length), length);
    }

    show(from, length) {
        this.length = Math.min(this.model.length, Math.max(this.model.least, length));
        this.from = Math.max(0, Math.min(from, this.model.length - this.length));
        this.draw();
    }

    choose(i) {
        this.chosen = i;
        this.told.textContent = i < 0 ? this.model.hint : `${this.model.describe(i)} `;
        if (i >= 0)
            addRows(null, this.told, this.model.box(i).name);
        this.draw();
    }

    find(event) {
        const area = this.canvas.getBoundingClientRect();
        const at = this.from + (event.clientX - area.left - this.margin) / this.width * this.length;
        const y = event.clientY - area.top;
        const slack = 2 / this.width * this.length;
        let best = -1;
        for (let i = 0; i < this.model.count; i++) {
            const box = this.model.box(i);
            if (box && y >= box.y && y < box.y + this.model.row && at >= box.at - slack && at <= box.at + box.length + slack &&
                (best < 0 || box.length < this.model.box(best).length))
                best = i;
        }
        return { best, at };
    }

    listen() {
        const { canvas } = this;
        let drag = null;
        canvas.addEventListener("pointerdown", (event) => {
            drag = { x: event.clientX, from: this.from, moved: false };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!drag)
                return;
            const moved = event.clientX - drag.x;
            drag.moved = drag.moved || Math.abs(moved) > 3;
            if (drag.moved)
                this.show(drag.from - moved / this.width * this.length, this.length);
        });
        canvas.addEventListener("pointerup", (event) => {
            if (drag && !drag.moved)
                this.choose(this.find(event).best);
            drag = null;
        });
        canvas.addEventListener("pointercancel", () => { drag = null; });
        canvas.addEventListener("dblclick", (event) => {
            const { best } = this.find(event);
            if (best >= 0)
                this.model.enter(this, best);
        });
        canvas.addEventListener("wheel", (event) => {
            if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas)
                return; /* the page scrolls until the picture was clicked on */
            event.preventDefault();
            this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.find(event).at);
        }, { passive: false });
        canvas.addEventListener("keydown", (event) => {
            const keys = {
                ArrowLeft: () => this.show(this.from - this.length * 0.15, this.length),
                ArrowRight: () => this.show(this.from + this.length * 0.15, this.length),
                ArrowUp: () => this.zoom(0.7),
                ArrowDown: () => this.zoom(1 / 0.7),
                "+": () => this.zoom(0.7),
                "-": () => this.zoom(1 / 0.7),
                Home: () => this.show(0, this.model.length),
                0: () => this.show(0, this.model.length),
                n: () => this.step(1),
                p: () => this.step(-1),
                Enter: () => { if (this.chosen >= 0) this.model.enter(this, this.chosen); },
                Escape: () => { this.choose(-1); this.show(0, this.model.length); },
            };
            if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
                return;
            event.preventDefault();
            keys[event.key]();
        });
        const input = this.root.parentElement.querySelector("input[type=search]");
        input.addEventListener("input", () => { this.search = input.value; this.draw(); });
        for (const button of this.root.parentElement.querySelectorAll("[data-do]"))
            button.addEventListener("click", () => {
                const act = { in: () => this.zoom(0.6), out: () => this.zoom(1 / 0.6), all: () => this.show(0, this.model.length) };
                act[button.dataset.do]();
            });
    }

    /* The next box of the same row in direction SIGN; the first that is seen when none is chosen. */
    step(sign) {
        const { model } = this;
        let best = -1;
        const own = this.chosen >= 0 ? model.box(this.chosen) : null;
        for (let i = 0; i < model.count; i++) {
            const box = model.box(i);
            if (!box || i === this.chosen)
                continue;
            if (own && (box.y !== own.y || sign * (box.at - own.at) <= 0))
                continue;
            if (!own && (box.at + box.length < this.from || box.at > this.from + this.length))
                continue;
            if (best < 0 || sign * (box.at - model.box(best).at) < 0)
                best = i;
        }
        if (best < 0)
            return;
        const box = model.box(best);
        if (box.at + box.length < this.from || box.at > this.from + this.length)
            this.show(box.at + box.length / 2 - this.length / 2, this.length);
        this.choose(best);
    }
}

/* ---- the flame view: a box is a path of calls, the axis is time added up ---- */

function flameModel(data, metric) {
    const row = 18;
    const frames = [];
    for (let i = 0; i < data.frames.length; i += 5) {
        const [parent, name, count, host, device] = data.frames.slice(i, i + 5);
        frames.push({ parent, name: data.names[name], count, host, device, length: metric === "host" ? host : device, used: 0, y: 0 });
    }
    let total = 0, depth = 0;
    const boxes = frames.map((frame) => {
        const caller = frame.parent >= 0 ? frames[frame.parent] : null;
        if (frame.length <= 0)
            return null;
        frame.at = caller ? caller.at + caller.used : total;
        if (caller)
            caller.used += frame.length;
        else
            total += frame.length;
        frame.level = caller ? caller.level + 1 : 0;
        frame.y = frame.level * row;
        depth = Math.max(depth, frame.level + 1);
        return frame;
    });
    const amount = data.bytes ? bytesText : timeText;
    const mixed = !data.bytes && data.names.some((name) => kindColorOf(name) !== "--purple" && kindColorOf(name) !== "--grey");
    const share = (part) => `${(100 * part / Math.max(total, 1)).toFixed(1)} %`;
    return {
        row, height: Math.max(depth, 1) * row + 2, margin: 0, length: Math.max(total, 1), least: Math.max(total, 1) / 1e6,
        count: boxes.length, total, colorOf: (name) => colorOfEvents(name) || (mixed ? kindColorOf : colorOf)(name), /* all of Python: by name */
        hint: total ? "Nothing is chosen. Click on a call, or press n." : data.bytes ? "Nothing was in use." : "No time of this kind was recorded.",
        box: (i) => boxes[i],
        describe(i) {
            const frame = frames[i];
            const own = frame.length - frame.used;
            return `${frame.name}: ${amount(frame.length)} (${share(frame.length)}), of that itself ${amount(Math.max(own, 0))}; ${frame.count} ${data.bytes ? "blocks" : "times"}`;
        },
        enter: (view, i) => view.show(boxes[i].at, boxes[i].length),
        drawBack() {},
    };
}

/* ---- set up ---- */

function readData(id) {
    return JSON.parse(document.getElementById(id).textContent);
}

/* TEXT of an address as it was before it was encoded; as it stands if it is cut or was never encoded: "100%". */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/* Open what ITEM is folded into. */
function unfold(item) {
    for (let fold = item.closest("details"); fold; fold = fold.parentElement.closest("details"))
        fold.open = true;
}

/* The row that the address names is shown, be it folded away or filtered out. */
function showTarget() {
    const row = location.hash ? document.getElementById(decoded(location.hash.slice(1))) : null;
    const fold = row && (row.closest("details.fold") || row.querySelector(":scope > details.fold"));
    if (fold)
        unfold(fold);
    if (!row || row.tagName !== "TR") {
        if (fold)
            row.scrollIntoView();
        return;
    }
    row.classList.remove("more", "out");
    row.scrollIntoView({ block: "center" });
}

/* What a link leads to stands below the bar of sections, which may take several lines. */
function leaveRoom() {
    const bar = document.querySelector("nav");
    if (bar) /* beside the content it covers nothing */
        document.documentElement.style.scrollPaddingTop = `${getComputedStyle(document.body).display === "grid" ? 8 : bar.offsetHeight + 8}px`;
}

/* What scrolls can be reached by the tab key, unless something in it can. */
function letScrollersFocus() {
    for (const box of document.querySelectorAll(".chart, .tall, .culprits, .view .window, .twins .scroll")) {
        const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
        if (scrolls && !box.querySelector("a, button, [tabindex]"))
            box.tabIndex = 0;
        else
            box.removeAttribute("tabindex");
    }
}

/* The plates below labels of drawings are as wide as their letters, which the style sheet sizes. */
function fitPlates() {
    for (const plate of document.querySelectorAll(".plate")) {
        const words = plate.nextElementSibling.getBBox();
        if (words.width > 0)
            plate.setAttribute("width", words.width + 2 * (words.x - plate.x.baseVal.value));
    }
}

document.documentElement.classList.add("js");
letScrollersFocus();
addEventListener("resize", letScrollersFocus);
fitPlates();
addEventListener("resize", fitPlates);
document.addEventListener("toggle", letScrollersFocus, true);
leaveRoom();
addEventListener("resize", leaveRoom);
for (const box of document.querySelectorAll(".table"))
    setUpTable(box);
for (const row of document.querySelectorAll(".findings li")) /* of long texts the first clauses are shown until the row is clicked on */
    row.addEventListener("click", (event) => {
        if (!event.target.closest("a, code"))
            row.classList.toggle("whole");
    });
showTarget();
addEventListener("hashchange", showTarget);
let folded = [];
addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.fold:not([open])")];
    folded.forEach((fold) => { fold.open = true; });
});
addEventListener("afterprint", () => folded.forEach((fold) => { fold.open = false; }));
const flames = [];
for (const root of document.querySelectorAll(".view[data-flame]")) {
    const data = readData(root.dataset.flame);
    const view = new Boxes(root, flameModel(data, "host"));
    flames.push(view);
    for (const button of root.parentElement.querySelectorAll("[data-metric]"))
        button.addEventListener("click", () => {
            for (const other of root.parentElement.querySelectorAll("[data-metric]"))
                other.setAttribute("aria-pressed", String(other === button));
            view.model = flameModel(data, button.dataset.metric);
            view.choose(-1);
            view.show(0, view.model.length);
        });
}
