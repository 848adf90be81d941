package inspection

import "time"

// ProcessorTime is the processor time of a file until its verdict.
const ProcessorTime = cpuTime * time.Second
