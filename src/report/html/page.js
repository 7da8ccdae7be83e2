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
      finding.hidden = Boolean(word) && !finding.textContent.toLowerCase().includes(word);
      shown += finding.hidden ? 0 : 1;
    });
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

  const select = (finding) => {
    findings.forEach((other) => {
      const is = other === finding;
      other.classList.toggle('selected', is);
      other.querySelector('button').setAttribute('aria-expanded', String(is));
      other.querySelector('.more').hidden = !is;
    });
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
  findings.forEach((finding) => finding.querySelector('button').addEventListener('click', () => select(finding)));

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
      const head = document.createElement('h3');
      head.textContent = `${name} (${members.length})`;
      section.append(head, ...members);
      return section;
    }));
  };

  search.addEventListener('input', filter);
  sort.addEventListener('change', filter);
  space.addEventListener('change', filter);
  grouping.addEventListener('change', group);
  if (chooser) chooser.addEventListener('change', () => show(chooser.value));
  findings.forEach((finding) => { finding.querySelector('.more').hidden = true; });
  group();
  show(0);
  // `report.html#f3` opens the page at a finding.
  const linked = () => {
    const finding = document.getElementById(location.hash.slice(1));
    if (finding && finding.classList.contains('finding')) select(finding);
  };
  window.addEventListener('hashchange', linked);
  linked();
})();
