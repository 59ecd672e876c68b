// SPDX-License-Identifier: Apache-2.0
// What the bundler adds: style sheets as imports, and the address of the third-party licences.

declare module '*.css';
declare const LICENCES_URL: string;
