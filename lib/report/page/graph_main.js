// The page of `mrvlc graph --html`.

const data = JSON.parse(byId('data').textContent);
document.title = `${data.model}: graph`;
byId('model').textContent = data.model;
byId('subtitle').textContent = data.target === '' ? 'as it was read, not compiled' : `compiled for ${data.target}`;
const graphView = new GraphView(byId('graph'), data.graphs, data.graph_start);
