'use strict';
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const graphs = all('.graph');
  const chooser = document.getElementById('project');
  const search = document.getElementById('search');
  const sort = document.getElementById('sort');
  const grouping = document.getElementById('grouping');
  const findings = all('.finding');
  const list = document.getElementById('findings');
  const status = document.getElementById('status');

  const current = () => graphs.find((graph) => !graph.hidden);
  const show = (index) => {
    graphs.forEach((graph) => { graph.hidden = graph.dataset.graph !== String(index); });
    if (chooser) chooser.value = String(index);
    const sorts = new Set(all('[data-sort]', current() || document.createElement('div')).map((item) => item.dataset.sort));
    sort.replaceChildren(new Option('all sorts', ''), ...Array.from(sorts).sort().map((name) => new Option(name, name)));
    filter();
  };

  // Search and filter dim what is not meant, in the picture and in the list.
  const filter = () => {
    const word = search.value.trim().toLowerCase();
    const graph = current();
    if (graph) {
      all('[data-item]', graph).forEach((item) => {
        const named = !word || item.dataset.name.toLowerCase().includes(word) || item.dataset.sort.toLowerCase().includes(word);
        const sorted = !sort.value || item.dataset.sort === sort.value;
        item.classList.toggle('dim', !(named && sorted));
      });
    }
    let shown = 0;
    findings.forEach((finding) => {
      finding.hidden = Boolean(word) && !finding.textContent.toLowerCase().includes(word);
      shown += finding.hidden ? 0 : 1;
    });
    status.textContent = `${shown} of ${findings.length} findings shown`;
  };

  const select = (finding) => {
    findings.forEach((other) => {
      const is = other === finding;
      other.classList.toggle('selected', is);
      other.querySelector('button').setAttribute('aria-expanded', String(is));
      other.querySelector('.more').hidden = !is;
    });
    all('.hit').forEach((item) => item.classList.remove('hit'));
    if (!finding || finding.dataset.graph === undefined) return;
    show(finding.dataset.graph);
    const wanted = new Set((finding.dataset.items || '').split(' ').filter(Boolean));
    const graph = current();
    if (!graph) return;
    all('[data-item]', graph).forEach((item) => item.classList.toggle('hit', wanted.has(item.dataset.item)));
    all('.line', graph).forEach((line) => line.classList.toggle('hit', wanted.has(line.dataset.from) && wanted.has(line.dataset.to)));
  };
  findings.forEach((finding) => finding.querySelector('button').addEventListener('click', () => select(finding)));

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

  // Pan and zoom by changing what part of the drawing is shown.
  graphs.forEach((graph) => {
    const svg = graph.querySelector('svg');
    const box = graph.querySelector('.picture');
    if (!svg) return;
    const whole = svg.getAttribute('viewBox').split(' ').map(Number);
    let view = whole.slice();
    const set = () => svg.setAttribute('viewBox', view.join(' '));
    const zoom = (factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) => {
      const width = Math.min(Math.max(view[2] * factor, 60), whole[2] * 4);
      const real = width / view[2];
      view = [x - (x - view[0]) * real, y - (y - view[1]) * real, width, view[3] * real];
      set();
    };
    box.addEventListener('wheel', (event) => {
      event.preventDefault();
      const area = svg.getBoundingClientRect();
      zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, view[0] + (event.clientX - area.left) / area.width * view[2], view[1] + (event.clientY - area.top) / area.height * view[3]);
    }, { passive: false });
    let from = null;
    box.addEventListener('pointerdown', (event) => { from = [event.clientX, event.clientY]; });
    window.addEventListener('pointerup', () => { from = null; });
    box.addEventListener('pointermove', (event) => {
      if (!from) return;
      const scale = view[2] / svg.getBoundingClientRect().width;
      view[0] -= (event.clientX - from[0]) * scale;
      view[1] -= (event.clientY - from[1]) * scale;
      from = [event.clientX, event.clientY];
      set();
    });
    box.addEventListener('keydown', (event) => {
      const step = view[2] / 10;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (moves[event.key]) { view[0] += moves[event.key][0]; view[1] += moves[event.key][1]; set(); }
      else if (event.key === '+') zoom(1 / 1.2);
      else if (event.key === '-') zoom(1.2);
      else if (event.key === '0') { view = whole.slice(); set(); }
      else return;
      event.preventDefault();
    });
  });

  search.addEventListener('input', filter);
  sort.addEventListener('change', filter);
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
