'use strict';
// Pan and zoom by changing what part of a drawing is shown. The box keeps its place and its keys when the drawing is replaced.
const viewer = (box) => {
  let svg = null;
  let whole = [0, 0, 1, 1];
  let view = whole.slice();
  const set = () => svg && svg.setAttribute('viewBox', view.join(' '));
  const attach = () => {
    svg = box.querySelector('svg');
    if (!svg) return;
    whole = svg.getAttribute('viewBox').split(' ').map(Number);
    view = whole.slice();
  };
  // How large a unit is on the screen, and where the view starts there: what does not have the shape of the box is centred in it.
  const shown = () => {
    const area = svg.getBoundingClientRect();
    const scale = Math.min(area.width / view[2], area.height / view[3]) || 1;
    return { area, scale, left: area.left + (area.width - view[2] * scale) / 2, top: area.top + (area.height - view[3] * scale) / 2 };
  };
  const zoom = (factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) => {
    const width = Math.min(Math.max(view[2] * factor, 60), Math.max(whole[2], whole[3]) * 4);
    const real = width / view[2];
    view = [x - (x - view[0]) * real, y - (y - view[1]) * real, width, view[3] * real];
    set();
  };
  // Shows some boxes when they are not to be seen, or too small to be read.
  const focus = (items) => {
    const areas = items.map((item) => item.querySelector('rect, ellipse, polygon')).filter(Boolean).map((shape) => shape.getBBox());
    if (!svg || areas.length === 0) return;
    const left = Math.min(...areas.map((area) => area.x));
    const top = Math.min(...areas.map((area) => area.y));
    const right = Math.max(...areas.map((area) => area.x + area.width));
    const bottom = Math.max(...areas.map((area) => area.y + area.height));
    const inside = left >= view[0] && top >= view[1] && right <= view[0] + view[2] && bottom <= view[1] + view[3];
    const { area, scale } = shown();
    if (inside && scale >= 0.4) return;
    const shape = area.width / area.height || 1.5;
    const width = Math.max(right - left + 200, (bottom - top + 200) * shape, 700);
    const height = width / shape;
    view = [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
    set();
  };
  box.addEventListener('wheel', (event) => {
    if (!svg) return;
    event.preventDefault();
    const { scale, left, top } = shown();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, view[0] + (event.clientX - left) / scale, view[1] + (event.clientY - top) / scale);
  }, { passive: false });
  let from = null;
  box.addEventListener('pointerdown', (event) => { from = [event.clientX, event.clientY]; });
  window.addEventListener('pointerup', () => { from = null; });
  box.addEventListener('pointermove', (event) => {
    if (!from || !svg) return;
    const { scale } = shown();
    view[0] -= (event.clientX - from[0]) / scale;
    view[1] -= (event.clientY - from[1]) / scale;
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
  attach();
  return { attach, focus };
};
