/** The lines of a file in Node; none if the file does not exist. The last line may have been cut by a crash. */
export declare function readLines(path: string): Promise<string[]>;
/**
 * Appends a line to a file of mode 0600, in Node. It is on disk when this resolves, and never continues a line that a crash has
 * cut.
 */
export declare function appendLine(path: string, line: string): Promise<void>;
/** Makes a file of mode 0600 as a whole, in Node; returns false, and changes nothing, if the path is taken. */
export declare function createFile(path: string, text: string): Promise<boolean>;
/** Writes a file of mode 0600 as a whole, in Node: a crash leaves either the old or the new file. */
export declare function replaceFile(path: string, text: string): Promise<void>;
