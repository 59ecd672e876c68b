// SPDX-License-Identifier: Apache-2.0
// What was sent lately and not stored, and why: the place to look for those who miss a profile.

import { useState } from 'preact/hooks';
import { apiUrl, useApi } from '../base/api';
import { formatBytes, formatCount, plural } from '../base/format';
import { useTitle } from '../base/hooks';
import { ago, parseTime, showTime } from '../base/time';
import type { Rejects } from '../base/types';
import { Async, Empty } from '../parts/states';

type Row = Rejects['rejects'][number];

function RejectRow({ row }: { row: Row }) {
    const ms = parseTime(row.time, Date.now());
    return (
        <tr>
            <td class="num" title={ms === null ? row.time : showTime(ms, true)}>{ms === null ? row.time : ago(ms, Date.now())}</td>
            <td>{row.status === 0 ? <span title="The rest of what was sent is stored">stored in part</span> : `refused (${row.status})`}</td>
            <td><strong>{row.reason}</strong>{row.count > 1 && <> × {formatCount(row.count)}</>}{row.detail && <div class="pkg">{row.detail}</div>}</td>
            <td>{row.name}<div class="pkg">{row.user_agent}</div></td>
            <td><code>{row.endpoint}</code></td>
            <td class="num" title={`Fingerprint of the body: ${row.fingerprint}`}>{formatBytes(row.bytes)}</td>
        </tr>
    );
}

function Table({ data }: { data: Rejects }) {
    return (
        <>
            <p class="note">{data.reasons.map((r) => `${r.reason}: ${formatCount(r.count)}`).join(' · ')}</p>
            <div class="wide-table" role="region" aria-label="Table of rejects" tabIndex={0}>{/* nothing in it takes the focus */}
                <table class="data" aria-label="Rejects, the latest first">
                    <thead><tr><th scope="col" class="num">When</th><th scope="col">What</th><th scope="col">Why</th><th scope="col">Sender</th><th scope="col">Endpoint</th><th scope="col" class="num">Bytes</th></tr></thead>
                    <tbody>{data.rejects.map((row, i) => <RejectRow key={i} row={row} />)}</tbody>
                </table>
            </div>
            {data.total > data.rejects.length && <p class="note">The latest {plural(data.rejects.length, 'row')} of {formatCount(data.total)} since the server started.</p>}
        </>
    );
}

export function RejectsPage() {
    const [tick, setTick] = useState(0);
    const answer = useApi<Rejects>(apiUrl('rejects', { limit: '200' }), tick);
    useTitle('Rejects');
    return (
        <>
            <div class="toolbar">
                <h1>Rejects</h1>
                <span class="spring" />
                <button type="button" onClick={() => setTick(tick + 1)}>Look again</button>
            </div>
            <Async answer={answer} what="the rejects">
                {(data) => data.rejects.length === 0
                    ? <Empty title="Nothing was rejected">Everything that was sent since the server started is stored, or came to another address. A profile that is missing here never arrived.</Empty>
                    : <Table data={data} />}
            </Async>
        </>
    );
}
