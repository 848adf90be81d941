import { v5 } from "uuid";
// The namespace of derived operation ids.
const namespace = "6e8b7d1c-52c4-5b0e-9d0f-3f1f0c7a5a11";
/**
 * The operation id that the server's tools derive from a request: so a second request with the same expected_version is a repeat,
 * and is not carried out twice. target is the path with its query, body the rest of the request.
 */
export function derivedOperationId(method, target, body) {
    return v5(`${method} ${target}\n${escaped(JSON.stringify(sorted(body)))}`, namespace);
}
// The server escapes these two line separators, which JSON allows either way.
function escaped(json) {
    return json.replace(/[\u2028\u2029]/g, (separator) => `\\u${separator.charCodeAt(0).toString(16)}`);
}
function sorted(value) {
    if (Array.isArray(value)) {
        return value.map(sorted);
    }
    if (typeof value !== "object" || value === null) {
        return value;
    }
    // Sorts members by the bytes of their names, as other languages do. Undefined members are left out.
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]));
}
