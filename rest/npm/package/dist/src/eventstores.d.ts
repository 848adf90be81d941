/** The ids of events that were handled. With a store that outlives the process each event is handed over once. */
export interface EventStore {
    has(id: string): boolean | Promise<boolean>;
    add(id: string): void | Promise<void>;
}
/** Remembers the latest ids in memory. */
export declare class MemoryEventStore implements EventStore {
    #private;
    readonly size: number;
    constructor(size?: number);
    has(id: string): boolean;
    add(id: string): void;
}
/**
 * Remembers the latest ids in a file, one a line, in Node: an id is on disk when `add` resolves. The client for Go reads and
 * writes the same file (agent.key.seen). Use a file for one listener at a time.
 */
export declare class FileEventStore implements EventStore {
    #private;
    readonly path: string;
    readonly size: number;
    constructor(path: string, size?: number);
    has(id: string): Promise<boolean>;
    add(id: string): Promise<void>;
}
