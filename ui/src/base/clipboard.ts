// SPDX-License-Identifier: Apache-2.0
// Copying text. The clipboard of the browser is there only over HTTPS and on localhost; plain HTTP needs the old way.

function copyOld(text: string): boolean {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'sr';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
}

export async function copyText(text: string): Promise<boolean> {
    try {
        if (navigator.clipboard) {
            await navigator.clipboard.writeText(text);
            return true;
        }
    } catch {
        // refused by the browser's policy: the old way may still be allowed
    }
    return copyOld(text);
}
