/* ---- from rows of tables to the timeline and back; addresses that can be sent to a colleague ---- */

/* #e=12: event 12 of the first timeline; #t=1000,500: 500 ns from 1000 ns on; #find=NAME: the longest of this name. */
let timelines = [];

function setHash(view, words) {
    if (view !== timelines[0])
        return;
    try {
        history.replaceState(null, "", `#${words}`);
    } catch {
        /* a page that is shown within another may not */
    }
}

function followHash() {
    const view = timelines[0], words = location.hash.slice(1);
    if (!view || !/^(e|t|find)=/.test(words))
        return;
    const value = decodeURIComponent(words.slice(words.indexOf("=") + 1));
    if (words.startsWith("e=") && Number(value) < view.recording.spans.count)
        view.choose(Number(value), true);
    if (words.startsWith("t=")) {
        const [from, length] = value.split(",").map(Number);
        view.show(from - length * 0.1, length * 1.2);
        view.choseRange(from, from + length);
    }
    if (words.startsWith("find="))
        chooseNamed(view, value);
    view.root.scrollIntoView({ behavior: "instant" });
}

/* All of NAME are matches; the longest is chosen. */
function chooseNamed(view, name) {
    const { recording } = view, { spans } = recording;
    view.matches = [];
    view.takeMatches((i) => recording.nameOf(i) === name);
    view.root.querySelector("input[type=search]").value = name;
    view.told.textContent = `${view.matches.length} found`;
    const longest = view.matches.reduce((best, i) => best < 0 || spans.length[i] > spans.length[best] ? i : best, -1);
    if (longest >= 0)
        view.choose(longest, true);
    view.draw();
}

/* ---- tables ---- */

let rowsByName = null;

/* Rows of the tables by each name in them: of long names the whole. */
function findRows() {
    rowsByName = new Map();
    for (const row of document.querySelectorAll(".table tbody tr[id]"))
        for (const cell of row.cells)
            if (cell.classList.contains("name") || cell.classList.contains("text")) {
                const name = nameOfCell(cell);
                rowsByName.set(name, [...(rowsByName.get(name) || []), row]);
            }
}

function nameOfCell(cell) {
    return cell.dataset.name !== undefined ? cell.dataset.name : textOf(cell);
}

/* In PANEL, links to the rows that NAME has in tables. */
function addRows(panel, name) {
    if (!rowsByName)
        findRows();
    const rows = (rowsByName.get(name) || []).slice(0, 8);
    if (!rows.length)
        return;
    const titleOf = (row) => {
        const section = row.closest("section");
        const title = section && section.querySelector("h2, h3");
        return title ? title.textContent : row.id;
    };
    panel.append(element("h4", "In tables"),
                 element("ul", "", rows.map((row) => element("li", "", [link(titleOf(row), `#${row.id}`)]))));
}

/* A link behind the text of CELL. */
function addPlace(cell, hash, label) {
    const made = link("\u2192", hash);
    made.className = "place";
    made.title = label;
    made.setAttribute("aria-label", label);
    cell.dataset.name = textOf(cell);
    cell.append(made);
}

/* Where a row's moment lies on the timeline: moments count from the origin of the row's file. */
function placeOfRow(view, row, columns) {
    const figure = (column) => column < 0 || row.cells[column].dataset.v === undefined ? NaN : Number(row.cells[column].dataset.v);
    const start = figure(columns.moment), length = figure(columns.length), rank = figure(columns.rank);
    const file = view.recording.files.find((of) => of.rank === rank) || view.recording.files[0];
    if (Number.isNaN(start) || !file)
        return null;
    return `#t=${Math.round(start + file.at)},${Number.isNaN(length) ? 1000 : Math.max(1, Math.round(length))}`;
}

function linkTable(view, box, names) {
    const heads = [...box.querySelectorAll("th")];
    const column = (kind) => heads.findIndex((head) => head.dataset.kind === kind);
    const columns = { moment: column("moment"), length: column("ns"), rank: heads.findIndex((head) => head.dataset.key === "rank"),
                      step: heads.findIndex((head) => head.dataset.key === "step") };
    [...box.querySelectorAll("tbody tr")].forEach((row, number) => {
        const section = row.closest("section");
        row.id = row.id || `${section ? section.id : "row"}.${box.dataset.key}-${number + 1}`;
        const place = placeOfRow(view, row, columns);
        const cell = [...row.cells].find((of) => of.classList.contains("name")) || row.cells[0];
        const step = columns.step < 0 ? -1 : view.recording.steps.findIndex((of) => of.number === Number(row.cells[columns.step].dataset.v));
        if (place)
            addPlace(cell, place, "its place in the timeline");
        else if (names.has(textOf(cell)))
            addPlace(cell, `#find=${encodeURIComponent(textOf(cell))}`, "in the timeline");
        else if (step >= 0)
            addPlace(row.cells[columns.step], `#t=${view.recording.steps[step].at},${view.recording.steps[step].length}`, "this step in the timeline");
    });
}

function linkTables(view) {
    if (!view || !view.recording.kinds.length)
        return;
    const names = new Set(view.recording.names);
    for (const box of document.querySelectorAll(".table"))
        linkTable(view, box, names);
}
