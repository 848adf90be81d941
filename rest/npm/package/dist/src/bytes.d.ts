/** Decodes padded base64, in which each sequence of bytes has one text. The error omits the text, which may be a secret. */
export declare function decode(base64: string): Uint8Array<ArrayBuffer>;
export declare function encode(raw: Uint8Array): string;
/** Decodes base64url without padding. */
export declare function decodeUrl(text: string): Uint8Array<ArrayBuffer>;
export declare function encodeUrl(raw: Uint8Array): string;
export declare function hex(raw: Uint8Array): string;
export declare const utf8: (text: string) => Uint8Array;
export declare function equal(a: Uint8Array, b: Uint8Array): boolean;
export declare function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer>;
export declare function sha256(...parts: Uint8Array[]): Promise<Uint8Array>;
