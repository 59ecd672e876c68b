// SPDX-License-Identifier: Apache-2.0
// The frame around all pages: navigation that carries the source along, theme, help.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { apiUrl, onRefused, useApi } from './base/api';
import { pageParams, readSource, type Side, type Source } from './base/source';
import { currentTenant, logOut, tenantHref } from './base/session';
import { setTheme, themeChoice, useTheme, type ThemeChoice } from './base/theme';
import type { Session } from './base/types';
import { href, usePlace, type Page, type Place } from './base/url';
import { shifted } from './diff/sides';
import { DiffPage } from './pages/diff';
import { FlamegraphPage } from './pages/flamegraph';
import { LoginPage } from './pages/login';
import { ProfilePage } from './pages/profile';
import { ProfilesPage } from './pages/profiles';
import { RejectsPage } from './pages/rejects';
import { ServicesPage } from './pages/services';
import { Help, useGlobalKeys } from './parts/keyboard';
import { Empty } from './parts/states';

export const PAGES: readonly Page[] = ['', 'profiles', 'profile', 'flamegraph', 'diff', 'rejects'];

const NAV: { page: Page; label: string }[] = [
    { page: '', label: 'Services' }, { page: 'profiles', label: 'Profiles' }, { page: 'flamegraph', label: 'Flame graph' }, { page: 'diff', label: 'Diff' },
];

/** The selector, range and type that the other pages should open with. */
function carried({ page, params }: Place): Source {
    const side: Side = page === 'diff' ? 'right_' : '';
    const source = readSource(params, side);
    return { ...source, ids: [], query: page === '' ? '' : source.query };
}

function navHref(to: Page, source: Source): string {
    if (to === '') return href('', { ...pageParams(source), query: null, type: null });
    if (to !== 'diff') return href(to, pageParams(source));
    if (source.query === '') return href('diff', {});
    const before = shifted(source, null, Date.now());
    return href('diff', { ...pageParams(source, 'right_'), ...(before ? pageParams(before, 'left_') : {}) });
}

const THEMES: Record<ThemeChoice, { next: ThemeChoice; icon: string; says: string }> = {
    auto: { next: 'light', icon: '◐', says: 'Colours as the system has them' },
    light: { next: 'dark', icon: '☀', says: 'Light colours' },
    dark: { next: 'auto', icon: '☾', says: 'Dark colours' },
};

function ThemeSwitch() {
    useTheme();
    const [choice, setChoice] = useState(themeChoice);
    const { next, icon, says } = THEMES[choice];
    const change = (): void => {
        setTheme(next);
        setChoice(next);
    };
    return <button type="button" class="icon" data-theme-switch aria-label={`${says}. Change`} title={says} onClick={change}>{icon}</button>;
}

/** Whose profiles these are, where there is a choice. */
function TenantChoice({ session }: { session: Session }) {
    const tenant = currentTenant();
    if (session.auth === 'none') return session.multitenancy ? <a class="quiet" href={tenantHref(null)} title="Choose another tenant">Tenant {tenant}</a> : null;
    if (session.tenants.length < 2) return null;
    return (
        <select aria-label="Tenant" value={tenant ?? ''} onChange={(e) => location.assign(tenantHref(e.currentTarget.value || null))}>
            <option value="">All tenants</option>
            {session.tenants.map((t) => <option key={t} value={t}>{t}</option>)}
        </select>
    );
}

interface HeaderProps {
    place: Place;
    session?: Session;
    onHelp: () => void;
    onLogOut: () => void;
}

function Header({ place, session, onHelp, onLogOut }: HeaderProps) {
    const source = carried(place);
    return (
        <header class="top">
            <a class="skip" href="#main">Skip to the content</a>
            <a class="brand" href={href('', {})}>
                <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
                    <path fill="#d55e00" d="M3 25h26v5H3z" /><path fill="#e69f00" d="M3 18h17v5H3z" /><path fill="#f0c75e" d="M7 11h9v5H7z" /><path fill="#56b4e9" d="M22 18h7v5h-7z" /><path fill="#f7dd9a" d="M10 3h4v6h-4z" />
                </svg>
                Flamekeep
            </a>
            <nav aria-label="Pages">
                {NAV.map((n) => <a key={n.page} href={navHref(n.page, source)} aria-current={n.page === place.page ? 'page' : undefined}>{n.label}</a>)}
            </nav>
            <span class="spring" />
            <a class="quiet" href={href('rejects', {})} aria-current={place.page === 'rejects' ? 'page' : undefined} title="What was sent lately and not stored, and why">Rejects</a>
            <a class="quiet" href="./docs/reading-profiles" target="_blank">About reading profiles</a>
            {session && <TenantChoice session={session} />}
            {session?.auth === 'token' && <button type="button" class="quiet" title={session.name ? `Logged in with the token “${session.name}”` : undefined} onClick={onLogOut}>Log out</button>}
            <ThemeSwitch />
            <button type="button" class="icon" aria-label="Keys and help" title="Keys and help (?)" onClick={onHelp}>?</button>
        </header>
    );
}

function PageView({ place }: { place: Place }) {
    const { page, params } = place;
    if (page === '') return <ServicesPage params={params} />;
    if (page === 'profiles') return <ProfilesPage params={params} />;
    if (page === 'profile') return params.getAll('id').length > 1 ? <FlamegraphPage params={params} /> : <ProfilePage params={params} />;
    if (page === 'flamegraph') return <FlamegraphPage params={params} />;
    if (page === 'diff') return <DiffPage params={params} />;
    if (page === 'rejects') return <RejectsPage />;
    return <Empty title="There is no such page"><a href="./">Services</a> is where to start.</Empty>;
}

export function App() {
    const place = usePlace();
    const [help, setHelp] = useState(false);
    const [refused, setRefused] = useState(false);
    const [round, setRound] = useState(0); // of asking anew after a log-in
    const session = useApi<Session>(apiUrl('session'), round);
    useEffect(() => onRefused(() => setRefused(true)), []);
    const enter = (): void => {
        setRefused(false);
        setRound(round + 1);
    };
    const leave = (): void => {
        void logOut().then(() => setRefused(true));
    };
    useGlobalKeys(useCallback(() => setHelp(true), []));
    return (
        <>
            <Header place={place} session={refused ? undefined : session.data} onHelp={() => setHelp(true)} onLogOut={leave} />
            <main id="main" tabIndex={-1}>
                {refused ? <LoginPage session={session.data} onDone={enter} /> : <PageView key={`${round} ${place.page}`} place={place} />}
            </main>
            <Help open={help} onClose={() => setHelp(false)} />
        </>
    );
}
