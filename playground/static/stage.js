/* The browser's half of a tab: it holds the state, sends what a person did, and
   paints the answer. It computes nothing: every number comes from the server.

   Playground.header(element, lang)                       once a page
   Playground.stage(element, props, server, tab, lang, trigger)  once a tab
   Playground.text(tab)                                   the Markdown beside it, where there is one
*/
window.Playground = (() => {
  "use strict";
  const stages = {};
  const texts = {};
  let words = {};

  /* The fragment: {tab, states}, kept up to date so that a reload, a link and the
     other language all show the same. */
  const session = readFragment();
  let fragmentTimer = 0;
  let fragmentTime = -Infinity;

  function readFragment() {
    try {
      const text = location.hash.match(/#s=([\w-]+)/);
      if (!text) return { tab: "", states: {} };
      const bytes = Uint8Array.from(atob(text[1].replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
      const found = JSON.parse(new TextDecoder().decode(bytes));
      return { tab: String(found.tab || ""), states: Object(found.states) };
    } catch {
      return { tab: "", states: {}, broken: true };
    }
  }

  const UNDER_WAY = ["running", "place", "ticket"]; // who opens a link has not pressed the button
  function fragment() {
    const resting = (key, value) => (UNDER_WAY.includes(key) ? undefined : value);
    const bytes = new TextEncoder().encode(JSON.stringify({ tab: session.tab, states: session.states }, resting));
    let text = "";
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return "#s=" + btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function writeFragment(now) {
    clearTimeout(fragmentTimer);
    const write = () => {
      const hash = fragment();
      fragmentTime = performance.now();
      history.replaceState(null, "", location.pathname + location.search + hash);
      for (const link of document.querySelectorAll("a[data-language]")) link.href = otherPage(link.dataset.language) + hash;
    };
    if (now) write();
    else fragmentTimer = setTimeout(write, fragmentTime + 350 - performance.now()); // Safari refuses more than 100 in 30 s
  }

  const otherPage = (lang) => location.pathname.replace(/\/(ko|en)\/?$/, "/" + lang) + location.search;

  /* Gradio mounts the tabs when it is ready, and may mount them anew: ask until it has held. */
  function selectWhenThere(name, tries = 40) {
    const button = document.querySelector(`button[role=tab][data-tab-id="${CSS.escape(name)}"]`);
    if (button) selectTab(name);
    const held = button && document.querySelector(`#stage-${CSS.escape(name)}`);
    if (!held && tries && session.tab === name) setTimeout(() => selectWhenThere(name, tries - 1), 50);
  }

  function selectTab(name) {
    const button = document.querySelector(`button[role=tab][data-tab-id="${CSS.escape(name)}"]`);
    if (button && button.getAttribute("aria-selected") !== "true") button.click();
  }

  /* Small helpers */

  function toast(text) {
    let box = document.getElementById("toast");
    if (!box) {
      box = document.createElement("div");
      box.id = "toast";
      box.setAttribute("role", "status");
      document.body.append(box);
    }
    box.textContent = text;
    box.classList.add("on");
    clearTimeout(box.timer);
    box.timer = setTimeout(() => box.classList.remove("on"), 2500);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no clipboard without https: the old way
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    toast(words.copied || "");
  }

  function save(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  /* A file's JSON; what is none, or more than the server reads, is sent in part: it says what is wrong. */
  function parsed(text) {
    if (new Blob([text]).size < 900000) {
      try { return JSON.parse(text); } catch { /* not JSON */ }
    }
    return text.slice(0, 200);
  }

  /* The page is patched in place, so that focus, caret and scrolling survive. Gradio is
     not asked to do it: it may put an older value of a component back at any time. */
  function patch(old, next) {
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== next.data) old.data = next.data;
      return;
    }
    for (const { name } of [...old.attributes]) {
      if (!next.hasAttribute(name) && !(name === "open" && old.tagName === "DETAILS")) old.removeAttribute(name); // a person unfolds it
    }
    for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    patchChildren(old, next);
  }

  function patchChildren(old, next) {
    let here = old.firstChild;
    for (const child of [...next.childNodes]) {
      let found = here;
      while (found && kind(found) !== kind(child)) found = found.nextSibling;
      if (!found) {
        old.insertBefore(child, here);
        continue;
      }
      while (here !== found) here = dropped(here);
      patch(found, child);
      here = found.nextSibling;
    }
    while (here) here = dropped(here);
  }

  /* A list that was unfolded over the page goes when it has served, by Escape, and by a click elsewhere. */
  const fold = (inside) => inside.closest("details")?.removeAttribute("open");

  function foldOthers(target) {
    for (const open of document.querySelectorAll(".course details[open]")) if (!open.contains(target)) open.removeAttribute("open");
  }

  function dropped(node) {
    const after = node.nextSibling;
    node.remove();
    return after;
  }

  /* What tells siblings apart: a cell's column, a table's matrix, else tag and first class. */
  const kind = (node) => node.nodeName + (node.dataset ? node.dataset.col || node.dataset.matrix || node.classList[0] || "" : "");

  const isText = (el) => el && (el.tagName === "TEXTAREA" || (el.tagName === "INPUT" && !["checkbox", "radio", "range"].includes(el.type)));
  const given = (el) => (el.tagName === "TEXTAREA" ? el.textContent : el.getAttribute("value") || ""); // by the server

  /* A page's header */

  function header(element, lang) {
    document.documentElement.lang = lang;
    words = JSON.parse(element.querySelector("[data-words]").dataset.words);
    element.addEventListener("click", (event) => {
      const target = event.target.closest("[data-language], [data-client]");
      if (!target) return;
      if (target.dataset.language) {
        event.preventDefault();
        const touched = session.tab || Object.keys(session.states).length;
        location.href = otherPage(target.dataset.language) + (touched ? fragment() : "");
      } else if (target.dataset.client === "link") {
        writeFragment(true);
        copy(location.href);
      } else if (target.dataset.client === "present") {
        const on = document.documentElement.classList.toggle("present");
        target.setAttribute("aria-pressed", on);
      }
    });
    document.addEventListener("click", (event) => {
      const tab = event.target.closest("button[role=tab][data-tab-id]");
      if (!tab || session.tab === tab.dataset.tabId) return;
      session.tab = tab.dataset.tabId;
      writeFragment();
    });
    document.addEventListener("click", (event) => foldOthers(event.target));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") foldOthers(null); });
    document.addEventListener("keydown", (event) => { // what a presenter's remote control sends
      const step = { PageUp: "previous", PageDown: "next" }[event.key];
      if (!step || !document.documentElement.classList.contains("present")) return;
      const shown = [...document.querySelectorAll(`[data-step=${step}]`)].find((b) => b.offsetParent);
      if (shown) { event.preventDefault(); shown.click(); }
    });
    if (session.tab) selectWhenThere(session.tab);
    window.addEventListener("hashchange", () => location.reload()); // someone pasted another link
  }

  /* A tab */

  const LOOKS = ["open", "pins", "step", "show_code", "ask", "answer", "head", "section", "left", "at", "layer", "measured", "replied", "tries", "quiz", "reviewing", ...UNDER_WAY]; // not worth an undo
  const core = (state) => JSON.stringify(state, (key, value) => (LOOKS.includes(key) ? undefined : value));

  const goesOn = ({ action }) => action.do === "more"; // the page asks so by itself

  /* What this browser keeps of a learner: it is sent along, and never in a link. */
  const keeper = "attention-playground:";
  const visit = {}; // where nothing can be stored, a private window say: for this visit only
  function kept(tab) {
    const now = new Date();
    const today = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
    let text = visit[tab];
    try { text ??= localStorage.getItem(keeper + tab); } catch { /* no storage */ }
    return { today, progress: parsed(text ?? "null") };
  }

  function keep(tab, progress) {
    visit[tab] = JSON.stringify(progress);
    try {
      localStorage.setItem(keeper + tab, visit[tab]);
      delete visit[tab]; // another window may learn on
    } catch { /* no storage, or no room in it */ }
  }

  function stage(element, props, server, tab, lang, trigger) {
    let state = props.value.state;
    let queue = [];
    let asked = []; // sent, not yet answered
    let busy = false;
    let edited = null; // the text field whose own text must survive the next paint
    let undo = [];
    let redo = [];
    let lastKey = "";
    let waiting = 0; // until the page goes on by itself
    const ticket = Math.floor(Math.random() * 2 ** 31); // this page's own, in the queue of those who compute
    stages[tab] = { send };

    /* The page may still show what is about to go: a click on the third token while the
       first is being removed means the token that is the second by then. False: it is gone. */
    function follow(action) {
      for (const { action: before } of [...asked, ...queue]) {
        if (before.do !== "remove" && before.do !== "unpin") continue;
        const place = before.do === action.do || (before.do === "remove" && action.do === "token") ? "index"
          : before.do === "remove" && action.do === "cell" && action.matrix === "vectors" ? "row" : "";
        if (!place) continue;
        if (action[place] === before.index) return false;
        if (action[place] > before.index) action[place] -= 1;
      }
      return true;
    }

    function send(action, { record = true, key = "", field = null } = {}) {
      if (!follow(action)) return;
      edited = field;
      const last = queue[queue.length - 1];
      if (key && last && last.key === key) queue.pop(); // only the newest text of a cell counts
      queue.push({ action, record, key });
      return pump();
    }

    async function pump() {
      if (busy) return;
      busy = true;
      let reply = null;
      do {
        const acts = queue.filter((b) => !goesOn(b)); // what a person does comes before going on by itself
        const batch = acts.length ? acts : queue;
        asked = batch;
        queue = [];
        try {
          reply = await server.act({ tab, lang, state, kept: kept(tab), actions: batch.map((b) => b.action) });
          if (!reply) throw new Error("no answer"); // Gradio swallows what went wrong
        } catch {
          queue = batch.concat(queue); // nothing typed is lost: wait and try again
          asked = [];
          toast(words.offline || "");
          await new Promise((done) => setTimeout(done, 1500));
          continue;
        }
        if (batch.length) remember(batch, reply.state);
        asked = [];
        state = reply.state;
        if (reply.kept) keep(tab, reply.kept);
        paint(reply.html);
        if (reply.text !== undefined && reply.text !== texts[tab]) {
          texts[tab] = reply.text;
          trigger("select");
        }
      } while (queue.length || !reply);
      busy = false;
      return reply;
    }

    function remember(batch, next) {
      session.tab = session.tab || tab;
      session.states[tab] = next;
      writeFragment();
      const last = batch[batch.length - 1];
      if (!last || !last.record || !state || core(state) === core(next)) return;
      if (!(last.key && last.key === lastKey)) undo.push(state);
      if (undo.length > 200) undo.shift();
      lastKey = last.key;
      redo = [];
    }

    /* What a patch of attributes does not reach, the live value of a field, is set here. */
    function paint(html) {
      const next = document.createElement("div");
      next.innerHTML = html;
      patchChildren(element, next);
      const kept = edited === document.activeElement ? edited : null; // being typed in, or dragged
      for (const input of element.querySelectorAll("input, select, textarea")) {
        if (input === kept) continue;
        if (input.type === "checkbox" || input.type === "radio") input.checked = input.hasAttribute("checked");
        else if (input.tagName === "SELECT") {
          for (const option of input.options) if (option.hasAttribute("selected")) input.value = option.value;
        } else if (input.value !== given(input)) input.value = given(input);
      }
      after();
    }

    function after() {
      for (const [name, stack] of [["undo", undo], ["redo", redo]]) {
        const button = element.querySelector(`[data-client=${name}]`);
        if (button) button.disabled = !stack.length;
      }
      for (const canvas of element.querySelectorAll("canvas[data-heat], canvas[data-picture]")) draw(canvas);
      const more = element.querySelector("[data-more]"); // work under way: the page asks on, so that a closed page ends it
      clearTimeout(waiting);
      if (more) {
        const goOn = () => element.isConnected && send({ ...JSON.parse(more.dataset.do), seed: ticket }, { record: false, key: "more", field: edited });
        if (more.dataset.wait) waiting = setTimeout(goOn, +more.dataset.wait); // in a queue
        else goOn();
      }
      for (const message of element.querySelectorAll(".msg")) { // into view on a narrow screen
        const over = message.getBoundingClientRect().right + 8 - document.documentElement.clientWidth;
        if (over > 0) message.style.marginLeft = `${-over}px`;
      }
    }

    function travel(from, to) {
      if (!from.length || (busy && ![...asked, ...queue].every(goesOn))) return; // answers under way may be undone, edits not
      to.push(state);
      lastKey = "";
      send({ do: "load", state: from.pop() }, { record: false });
    }

    /* What a person does */

    const place = (cell) => {
      const table = cell.closest("table");
      return { matrix: table.dataset.matrix, head: +table.dataset.head, row: +cell.dataset.row, col: +cell.dataset.col };
    };

    element.addEventListener("input", (event) => {
      const input = event.target;
      const cell = input.closest("td.edit");
      if (isText(input)) edited = input;
      if (cell) {
        const at = place(cell);
        send({ do: "cell", ...at, text: input.value }, { key: JSON.stringify(at), field: input });
      } else if (input.dataset.token) {
        send({ do: "token", index: +input.dataset.token, text: input.value }, { key: "token" + input.dataset.token, field: input });
      } else if (input.type === "range" || input.tagName === "TEXTAREA") {
        send({ do: "set", key: input.dataset.set, value: input.value }, { key: input.dataset.set, field: input });
      } else if ("reply" in input.dataset && isText(input)) {
        send({ do: "draft", values: [input.value] }, { record: false, key: "draft", field: input });
      } else if ("answer" in input.dataset) {
        for (const other of element.querySelectorAll("[data-answer]")) if (other !== input) other.value = input.value;
      }
    });

    element.addEventListener("change", (event) => {
      const input = event.target;
      if ("reply" in input.dataset) send({ do: "draft", values: chosen() }, { record: false, key: "draft", field: isText(input) ? input : null });
      if (!input.dataset.set || input.type === "range" || input.tagName === "TEXTAREA") return;
      const value = input.type === "checkbox" ? input.checked : input.value;
      send({ do: "set", key: input.dataset.set, value });
    });

    element.addEventListener("focusout", (event) => {
      const input = event.target; // leaving a field shows the number as it is in use
      if (isText(input) && !busy && (input.closest("td.edit") || input.dataset.token)) input.value = given(input);
      else if (input === edited) edited = null;
    });

    element.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do], [data-client]");
      if (button) {
        if (button.dataset.client) {
          clients[button.dataset.client]?.(button);
          fold(button);
        }
        else {
          const action = JSON.parse(button.dataset.do);
          if (action.do === "go") fold(button);
          if ("ticket" in button.dataset) action.seed = ticket;
          if (button.dataset.seed) action.seed = Math.floor(Math.random() * 2 ** 31); // which cell to ask
          const answered = send(action);
          if (action.do === "move") answered.then(() => focusMoved(action));
        }
        return;
      }
      const cell = event.target.closest("td[data-row]");
      if (cell) open(cell);
    });

    /* A step that was moved takes the focus along: its buttons are in another row now. */
    function focusMoved({ index, by }) {
      const row = element.querySelectorAll(".order li")[index + by];
      const buttons = row ? [...row.querySelectorAll("button:not(:disabled)")] : [];
      (buttons.find((b) => JSON.parse(b.dataset.do).by === by) || buttons[0])?.focus();
    }

    function open(cell) {
      if (cell.matches(".edit, .pred, .veil, .in")) return;
      const { matrix, head, row, col } = place(cell);
      element.classList.add("looking");
      send({ do: "open", cell: [matrix, head, row, col] });
    }

    /* What is chosen or typed as the answer to the question on the page. */
    const chosen = () => [...element.querySelectorAll("[data-question] [data-reply]")].filter((i) => isText(i) || i.checked).map((i) => i.value);
    const sendReply = () => send({ do: "reply", values: chosen() }, { record: false });

    const clients = {
      reply: sendReply,
      saveKept: () => save("attention-progress.json", JSON.stringify(kept(tab).progress, null, 1), "application/json"),
      bringKept: () => pick((text) => send({ do: "bring", kept: parsed(text) }, { record: false })),
      forget: (button) => confirm(button.dataset.ask) && send({ do: "forget" }, { record: false }),
      undo: () => travel(undo, redo),
      redo: () => travel(redo, undo),
      answer: () => sendAnswer(element.querySelector("[data-answer]")),
      async code() {
        const reply = await send({ do: "set", key: "show_code", value: true });
        if (reply && reply.code) copy(reply.code);
      },
      send: (button) => load(button.dataset.file),
      copy: () => copy(element.querySelector(".code pre").textContent),
      download: () => save(`attention-${tab}.json`, JSON.stringify({ tab, state }, null, 1), "application/json"),
      file: (button) => save(button.dataset.name, button.dataset.text, "text/x-python"),
      upload: () => pick(load),
      async csv(button) {
        const { matrixName: matrix, matrixHead: head } = button.dataset;
        const text = await server.table({ tab, lang, state, matrix, head });
        if (text) save(`${matrix}.csv`, "\ufeff" + text, "text/csv");
        else toast(words.offline || "");
      },
    };

    function pick(use) {
      const input = document.createElement("input");
      input.type = "file";
      input.accept = ".json,application/json";
      input.onchange = async () => use(await input.files[0].text());
      input.click();
    }

    function load(text) {
      const found = parsed(text);
      const named = Object(found).tab;
      const known = named && document.querySelector(`button[data-tab-id="${CSS.escape(String(named))}"]`);
      if (!named || !known) return send({ do: "load", state: named ? { tab: String(named) } : found });
      if (named === tab) return send({ do: "load", state: found.state });
      session.states[named] = found.state;
      selectTab(named);
      if (stages[named]) stages[named].send({ do: "load", state: found.state });
    }

    function sendAnswer(input) {
      send({ do: "answer", text: input.value }, { field: input });
    }

    element.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td[data-row]");
      const typing = isText(event.target);
      if (event.isComposing) return; // this Enter ends a Hangul syllable
      if (event.key === "Enter" && "reply" in event.target.dataset) return sendReply();
      if (event.key === "Enter" && "answer" in event.target.dataset) return sendAnswer(event.target);
      if (event.key === "Escape" && state.open) return send({ do: "open", cell: state.open });
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) {
        event.preventDefault();
        return event.shiftKey ? clients.redo() : clients.undo();
      }
      if (!cell) return;
      if (event.target === cell && (event.key === "Enter" || event.key === " ")) { // not a button in it
        event.preventDefault();
        return open(cell);
      }
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const enter = typing && event.key === "Enter" ? [1, 0] : null;
      if ((!step && !enter) || (typing && step && step[1])) return; // left and right move the caret
      const [dr, dc] = step || enter;
      const next = cell.closest("table").querySelector(`td[data-row="${+cell.dataset.row + dr}"][data-col="${+cell.dataset.col + dc}"]`);
      if (!next) return;
      event.preventDefault();
      const target = next.querySelector("input, button") || next;
      target.focus();
      if (isText(target)) target.select();
    });

    element.addEventListener("paste", (event) => {
      const cell = event.target.closest("td.edit");
      const text = event.clipboardData.getData("text");
      if (!cell || !/[\t\n;]|\S\s+\S/.test(text.trim())) return; // one number: the browser pastes it
      event.preventDefault();
      event.target.blur();
      send({ do: "paste", ...place(cell), text });
    });

    /* A character a number, `side` of them a row: 0 to 63 in these letters. */
    function levels({ picture, side }) {
      const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
      return Array.from({ length: picture.length / side }, (_, i) => [...picture.slice(i * side, (i + 1) * side)].map((c) => letters.indexOf(c) * 99 / 63));
    }

    /* A grid of weights too large to read as numbers: a picture with the same colours. */
    function draw(canvas) {
      const rows = canvas.dataset.heat ? canvas.dataset.heat.split(";").map((r) => r.split(",").map(Number)) : levels(canvas.dataset);
      canvas.width = rows[0].length;
      canvas.height = rows.length;
      const context = canvas.getContext("2d");
      const style = getComputedStyle(canvas);
      context.fillStyle = style.color;
      rows.forEach((row, i) => row.forEach((value, j) => {
        context.globalAlpha = value / 99;
        context.fillRect(j, i, 1, 1);
      }));
    }

    const linked = session.states[tab];
    if (linked) state = linked;
    if (session.broken) queue.push({ action: { do: "load", state: location.hash.slice(0, 60) }, record: false });
    if (linked || session.broken || !element.firstElementChild) pump();
    else after();
    session.broken = false;
  }

  return { header, stage, text: (tab) => texts[tab] || "" };
})();
