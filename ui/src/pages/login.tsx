// SPDX-License-Identifier: Apache-2.0
// What stands in place of a page that the server refuses: asks for a token, or for a tenant where the server keeps them apart.

import { useEffect, useRef, useState } from 'preact/hooks';
import { toProblem } from '../base/api';
import { useTitle } from '../base/hooks';
import { currentTenant, logIn, tenantHref } from '../base/session';
import type { Problem, Session } from '../base/types';
import { Failed } from '../parts/states';

interface AskProps {
    title: string;
    label: string;
    secret: boolean;
    button: string;
    onGiven: (value: string) => void;
    children: string;
}

function Ask({ title, label, secret, button, onGiven, children }: AskProps) {
    const [value, setValue] = useState('');
    const field = useRef<HTMLInputElement>(null);
    useEffect(() => field.current?.focus(), []);
    const submit = (e: Event): void => {
        e.preventDefault();
        if (value.trim()) onGiven(value.trim());
    };
    return (
        <form class="login" onSubmit={submit}>
            <h1>{title}</h1>
            <p>{children}</p>
            <label for="login">{label}</label>
            <input id="login" ref={field} type={secret ? 'password' : 'text'} autocomplete={secret ? 'current-password' : 'off'} spellcheck={false} value={value} onInput={(e) => setValue(e.currentTarget.value)} />
            <button type="submit" class="primary">{button}</button>
        </form>
    );
}

function AskToken({ onDone }: { onDone: () => void }) {
    const [problem, setProblem] = useState<Problem | null>(null);
    const give = (token: string): void => {
        logIn(token).then(onDone, (e: unknown) => setProblem(toProblem(e)));
    };
    return (
        <>
            <Ask title="Log in" label="Token" secret button="Log in" onGiven={give}>
                This server answers those who have a token. Whoever runs it makes one with “flamekeep admin token create”; to look at profiles it needs the scope read.
            </Ask>
            {problem && <Failed problem={problem} />}
        </>
    );
}

function AskTenant() {
    const now = currentTenant();
    return (
        <Ask title="Whose profiles?" label="Tenant" secret={false} button="Show" onGiven={(tenant) => location.assign(tenantHref(tenant))}>
            {(now ? `The server does not take “${now}” for a tenant. ` : '') + 'This server keeps the profiles of several tenants apart. Name one, or several with | between them.'}
        </Ask>
    );
}

export function LoginPage({ session, onDone }: { session?: Session; onDone: () => void }) {
    useTitle('Log in');
    return session?.auth === 'none' && session.multitenancy ? <AskTenant /> : <AskToken onDone={onDone} />;
}
