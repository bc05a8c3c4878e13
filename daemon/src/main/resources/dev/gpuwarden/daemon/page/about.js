// Names the part in a form that users recognise; for a GPU of this node with its index.
export function about(entities, gpus) {
  const of = type => entities.find(entity => entity.type === type)?.value;
  const uuid = of('GPU_UUID'), pci = of('PCI');
  const gpu = gpus.find(g => g.uuid === uuid) ?? gpus.find(g => pci && typeof g.pci === 'string' && g.pci.startsWith(pci));
  const rest = entities.filter(entity => !['GPU_UUID', 'PCI'].includes(entity.type)).map(entity => entity.type + ' ' + entity.value);
  const place = gpu && (typeof gpu.pci === 'string' ? gpu.pci : gpu.uuid);
  return [gpu ? `GPU ${gpu.index}` + (place ? ` (${place})` : '') : uuid ?? pci, ...rest].filter(Boolean).join(' · ') || 'node';
}
