// A host to be killed: shares a sidecar for the folder named first, says its process id, then works as the second word tells.

import { realOptions, shareSidecar } from '../sidecar-core.ts';

const [root, work] = process.argv.slice(2);
const { sidecar } = shareSidecar(realOptions(root, `${root}-index`));
const { pid } = await sidecar.describe();
process.stdout.write(`${pid}\n`);
if (work === 'evaluate') await sidecar.call('evaluate', { code: '(loop)', deadline: 600, session: null });
else setInterval(() => {}, 1000);
