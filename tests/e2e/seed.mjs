// SPDX-License-Identifier: Apache-2.0
// Profiles for the walk through the interface: folded stacks of a service of its own, values known in advance.

export const COUNT = 130;

function body(i) {
    const heavy = 100 + ((i * 37) % COUNT) * 10; // each value once, in an order unlike the times
    return [
        `main.main;main.serve;main.handle;encoding/json.Marshal ${heavy}`,
        `main.main;main.serve;main.handle;main.query;database/sql.(*DB).Query ${i % 2 === 0 ? 40 : 80}`,
        'main.main;main.serve;main.log 20',
        ...(i % 2 === 0 ? ['main.main;main.refresh;main.onlyEven 15'] : ['main.main;main.refresh;main.onlyOdd 25']),
        'main.main;main.fib;main.fib;main.fib 10',
    ];
}

export function stacksOf(i) {
    return Object.fromEntries(body(i).map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

export function totalOf(i) {
    return Object.values(stacksOf(i)).reduce((a, b) => a + b, 0);
}

/** A profile that knows its times, as speedscope has them: a second of read and parse, then two seconds of write. */
function timed() {
    return {
        $schema: 'https://www.speedscope.app/file-format-schema.json',
        shared: { frames: [{ name: 'job.run' }, { name: 'job.read' }, { name: 'job.parse' }, { name: 'job.write' }] },
        profiles: [{ type: 'evented', name: 'worker', unit: 'milliseconds', startValue: 0, endValue: 3000, events: [
            { type: 'O', frame: 0, at: 0 }, { type: 'O', frame: 1, at: 0 }, { type: 'C', frame: 1, at: 400 }, { type: 'O', frame: 2, at: 400 },
            { type: 'C', frame: 2, at: 1000 }, { type: 'O', frame: 3, at: 1000 }, { type: 'C', frame: 3, at: 3000 }, { type: 'C', frame: 0, at: 3000 },
        ] }],
    };
}

export async function seedTimed(base, service) {
    const params = new URLSearchParams({ labels: `{service_name="${service}-timed"}`, time: String(Date.now() - 60e3) });
    const response = await fetch(`${base}/api/v1/upload?${params}`, { method: 'POST', body: JSON.stringify(timed()) });
    if (response.status !== 201) throw new Error(`timed upload: ${response.status} ${await response.text()}`);
    const [profile] = (await response.json()).profiles;
    return { id: profile.id, type: profile.types[0].type };
}

/** Uploads them over the last 40 minutes, oldest first; gives the service, and id and number of each. */
export async function seed(base) {
    const service = 'e2e-' + Date.now().toString(36);
    const start = Date.now() - 40 * 60e3;
    const entries = [];
    for (let i = 0; i < COUNT; i++) {
        const params = new URLSearchParams({ format: 'folded', labels: `{service_name="${service}",pod="pod-${i % 3}"}`, time: String(start + i * 15e3) });
        const response = await fetch(`${base}/api/v1/upload?${params}`, { method: 'POST', body: body(i).join('\n') + '\n' });
        if (response.status !== 201) throw new Error(`upload ${i}: ${response.status} ${await response.text()}`);
        const receipt = await response.json();
        entries.push({ i, id: receipt.profiles[0].id, type: receipt.profiles[0].types[0].type });
    }
    return { service, entries };
}
