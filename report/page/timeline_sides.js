/* ---- of a comparison: from rows to their places before and after ---- */

/* Figures of a whole side: what of it took longest. */
function placeOfFigure(recording, index, title) {
    const longest = (fits) => longestThat(recording, fits), slowest = addressOf(recording, index, "ProfilerStep");
    const ways = [
        [/^(step time|window|time of all|latency|throughput)/, () => slowest || placeOf(0, recording.length)],
        [/idle/, () => longest((i) => recording.kinds[recording.spans.kind[i]].group === "idle")],
        [/communication/, () => longest((i) => isKind(recording, i, "communication"))],
        [/copies/, () => longest((i) => isKind(recording, i, "copies"))],
        [/^computation/, () => longest((i) => isKind(recording, i, "matrix kernels") || isKind(recording, i, "other kernels"))],
        [/^(GPU busy|device time)/, () => longest((i) => recording.isWork(i))],
        [/memory|allocated|reserved/, () => peakOfSeries(recording)],
        [/^host time/, () => longest((i) => recording.lanes[recording.spans.lane[i]].place === 2)],
    ];
    const way = ways.find(([words]) => words.test(title));
    return way ? way[1]() : "";
}

/* The place of ROW on the side of VIEW; "" if it has none there. */
function placeOnSide(view, index, box, row, cellOf) {
    const { recording } = view, { side } = recording.data, own = nameOfCell(namingCell(row));
    const step = (own.match(/^step (\d+)$/) || [])[1];
    if (cellOf("side") && textOf(cellOf("side")) !== side)
        return "";
    if (step !== undefined)
        return addressOf(recording, index, `ProfilerStep#${step}`);
    if (own === "[in no row]") {
        const named = new Set([...box.querySelectorAll("td.name")].map((cell) => nameOfCell(cell)));
        return longestThat(recording, (i) => recording.isWork(i) && !named.has(recording.nameOf(i))) || placeOfFigure(recording, index, "idle");
    }
    const other = cellOf(side === "before" ? "old_name" : "after"); /* of what was renamed */
    const name = other && !other.classList.contains("n") && textOf(other) !== "-" ? textOf(other) : own;
    return addressOf(recording, index, name) || (["head", "memory"].includes(box.dataset.key) ? placeOfFigure(recording, index, own) : "");
}

function linkSide(view, at, address, row) {
    const { side } = view.recording.data;
    addLink(at, `${address}@${row}`, `the longest ${side}, in the timeline`);
    at.lastElementChild.textContent = side;
}

function linkSides() {
    for (const view of timelines) {
        const index = indexNames(view.recording);
        for (const box of document.querySelectorAll(".table")) {
            const keys = [...box.querySelectorAll("th")].map((head) => head.dataset.key);
            for (const row of box.querySelectorAll("tbody tr")) {
                const cell = namingCell(row), address = placeOnSide(view, index, box, row, (key) => keys.includes(key) ? row.cells[keys.indexOf(key)] : null);
                cell.dataset.name = nameOfCell(cell);
                if (address)
                    linkSide(view, cell, addressIn(view, address), row.id);
            }
        }
        for (const card of document.querySelectorAll(".findings li")) { /* they lead where their rows do */
            const rows = [...card.querySelectorAll("a")].map((made) => document.getElementById(made.hash.slice(1))), heading = card.querySelector("h3");
            const places = rows.flatMap((row) => row && row.tagName === "TR" ? [...row.querySelectorAll("a.place")] : []);
            const place = places.find((made) => made.textContent === view.recording.data.side);
            card.dataset.place = heading.title || heading.textContent;
            if (place)
                linkSide(view, card.querySelector(".saves") || heading, place.getAttribute("href").split("@")[0], card.id);
        }
        const column = view.recording.data.side === "after" ? 3 : 0;
        document.querySelectorAll(".twins tbody tr").forEach((row, number) => {
            const cell = row.cells[column], address = addressOf(view.recording, index, textOf(cell));
            row.id = row.id || `trees-${number + 1}`;
            cell.dataset.name = textOf(cell);
            if (address)
                addLink(cell.firstElementChild, `${addressIn(view, address)}@${row.id}`, `the longest ${view.recording.data.side}, in the timeline`);
        });
    }
}
