(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const graphs = all('.graph');
  const views = graphs.map((graph) => viewer(graph.querySelector('.picture')));
  const chooser = document.getElementById('project');
  const search = document.getElementById('search');
  const sort = document.getElementById('sort');
  const space = document.getElementById('space');
  const grouping = document.getElementById('grouping');
  const findings = all('.finding');
  const list = document.getElementById('findings');
  const status = document.getElementById('status');

  const current = () => graphs.find((graph) => !graph.hidden);
  // The values of an attribute as choices, after one that means all of them.
  const choices = (select, every, graph, key) => {
    const values = new Set(all('[data-item]', graph).map((item) => item.dataset[key]).filter(Boolean));
    select.replaceChildren(new Option(every, ''), ...Array.from(values).sort().map((name) => new Option(name, name)));
    select.parentElement.hidden = values.size === 0;
  };
  const show = (index) => {
    graphs.forEach((graph) => { graph.hidden = graph.dataset.graph !== String(index); });
    if (chooser) chooser.value = String(index);
    const graph = current() || document.createElement('div');
    choices(sort, 'all sorts', graph, 'sort');
    choices(space, 'all namespaces', graph, 'group');
    filter();
  };

  // The text of a finding is asked for with every key that is pressed.
  const texts = new Map();
  const textOf = (finding) => {
    if (!texts.has(finding)) texts.set(finding, `${finding.dataset.file} ${finding.dataset.title || ''} ${finding.textContent}`.toLowerCase());
    return texts.get(finding);
  };
  const hiddenStates = new Set();
  all('.tile').forEach((tile) => tile.addEventListener('click', () => {
    const off = !hiddenStates.delete(tile.dataset.show);
    if (off) hiddenStates.add(tile.dataset.show);
    tile.setAttribute('aria-pressed', String(!off));
    filter();
  }));

  // Search and filters dim what is not meant, in the picture and in the list.
  const filter = () => {
    const word = search.value.trim().toLowerCase();
    const graph = current();
    if (graph) {
      const dim = new Set();
      all('[data-item]', graph).forEach((item) => {
        const named = !word || item.dataset.name.toLowerCase().includes(word) || item.dataset.sort.toLowerCase().includes(word);
        const sorted = !sort.value || item.dataset.sort === sort.value;
        const placed = !space.value || item.dataset.group === space.value || item.dataset.name === space.value;
        const meant = named && sorted && placed;
        item.classList.toggle('dim', !meant);
        if (!meant) dim.add(item.dataset.item);
      });
      all('.line[data-from]', graph).forEach((line) => line.classList.toggle('dim', dim.has(line.dataset.from) || dim.has(line.dataset.to)));
    }
    let shown = 0;
    findings.forEach((finding) => {
      finding.hidden = hiddenStates.has(finding.dataset.state) || (Boolean(word) && !textOf(finding).includes(word));
      shown += finding.hidden ? 0 : 1;
    });
    all('section', list).forEach((section) => { section.hidden = !section.querySelector('.finding:not([hidden])'); });
    status.textContent = `${shown} of ${findings.length} findings shown`;
  };

  // The way of a cycle or a path: lines that are drawn, and steps that no line is drawn for.
  const way = (graph, steps) => {
    for (let at = 1; at < steps.length; at += 1) {
      const [from, to] = [steps[at - 1], steps[at]];
      if (from === to) continue;
      const lines = all(`.line[data-from="${from}"][data-to="${to}"], .line[data-from="${to}"][data-to="${from}"]`, graph);
      lines.forEach((line) => line.classList.add('way'));
      if (lines.length > 0) continue;
      const ends = [from, to].map((item) => graph.querySelector(`[data-item="${item}"] rect`)).filter(Boolean).map((rect) => rect.getBBox());
      if (ends.length < 2) continue;
      const step = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      const points = ends.map((area) => `${area.x + area.width / 2} ${area.y + area.height / 2}`);
      step.setAttribute('d', `M${points.join('L')}`);
      step.setAttribute('class', 'step');
      graph.querySelector('svg').append(step);
    }
  };

  const open = (finding, is) => {
    finding.classList.toggle('selected', is);
    finding.querySelector('button').setAttribute('aria-expanded', String(is));
    finding.querySelector('.more').hidden = !is;
  };
  const selected = () => document.querySelector('.finding.selected');
  const select = (finding) => {
    const before = selected();
    if (before) open(before, false);
    if (finding) open(finding, true);
    // The address leads to what is open, so that it can be sent to others.
    try { history.replaceState(null, '', finding ? `#${finding.id}` : location.pathname); } catch { /* a page that has no address */ }
    all('.hit').forEach((item) => item.classList.remove('hit'));
    all('.way').forEach((line) => line.classList.remove('way'));
    all('.step').forEach((step) => step.remove());
    if (!finding || finding.dataset.graph === undefined) return;
    show(finding.dataset.graph);
    const wanted = new Set((finding.dataset.items || '').split(' ').filter(Boolean));
    const graph = current();
    if (!graph) return;
    const hits = all('[data-item]', graph).filter((item) => wanted.has(item.dataset.item));
    hits.forEach((item) => item.classList.add('hit'));
    const ways = (finding.dataset.ways || '').split(';').filter(Boolean);
    ways.forEach((steps) => way(graph, steps.split(' ')));
    if (ways.length === 0) all('.line[data-from]', graph).forEach((line) => line.classList.toggle('hit', wanted.has(line.dataset.from) && wanted.has(line.dataset.to)));
    views[graphs.indexOf(graph)].focus(hits);
  };
  findings.forEach((finding) => finding.querySelector('button').addEventListener('click', () => select(finding === selected() ? null : finding)));

  // A click on a box selects the next finding about it.
  graphs.forEach((graph) => all('[data-item].broken', graph).forEach((item) => item.addEventListener('click', () => {
    const about = findings.filter((finding) => finding.dataset.graph === graph.dataset.graph && (finding.dataset.items || '').split(' ').includes(item.dataset.item));
    const at = about.findIndex((finding) => finding.classList.contains('selected'));
    const next = about[(at + 1) % about.length];
    if (!next) return;
    select(next);
    next.scrollIntoView({ block: 'nearest' });
  })));

  const group = () => {
    const key = grouping.value;
    const groups = new Map();
    findings.forEach((finding) => {
      const name = finding.dataset[key];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(finding);
    });
    list.replaceChildren(...Array.from(groups, ([name, members]) => {
      const section = document.createElement('section');
      const head = document.createElement('h2');
      const about = document.createElement('span');
      const title = key === 'rule' ? members[0].dataset.title : '';
      about.className = 'soft';
      about.textContent = `${title ? ` ${title}` : ''} (${members.length})`;
      head.append(name, about);
      section.append(head, ...members);
      return section;
    }));
    list.dataset.by = key;
  };

  // One finding on, or back, in the order in which they are listed.
  const move = (by) => {
    const shown = all('.finding:not([hidden])', list);
    if (shown.length === 0) return;
    const at = shown.indexOf(selected());
    const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + by, 0), shown.length - 1)];
    select(next);
    next.querySelector('button').focus({ preventScroll: true });
    next.scrollIntoView({ block: 'nearest' });
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === '/') search.focus();
    else return;
    event.preventDefault();
  });

  search.addEventListener('input', filter);
  sort.addEventListener('change', filter);
  space.addEventListener('change', filter);
  grouping.addEventListener('change', () => { group(); filter(); });
  if (chooser) chooser.addEventListener('change', () => show(chooser.value));
  findings.forEach((finding) => { finding.querySelector('.more').hidden = true; });
  group();
  show(0);
  // `report.html#f3` opens the page at a finding.
  const linked = () => {
    const finding = document.getElementById(location.hash.slice(1));
    if (!finding || !finding.classList.contains('finding')) return;
    select(finding);
    finding.scrollIntoView({ block: 'start' });
  };
  window.addEventListener('hashchange', linked);
  linked();
})();
