package inspection

import "time"

const (
	mebibyte = 1 << 20

	// maxFile is the size of an original in bytes (§8).
	maxFile = 20 * mebibyte
	// maxPixels bounds width times height of an image (§8).
	maxPixels = 20_000_000
	// maxPages bounds a PDF (§8).
	maxPages = 200
	// previewSide is the longest side of a preview in pixels.
	previewSide = 1024
	// publishedSide is the longest side of a published image in pixels.
	publishedSide = 4096
)

// The limits of one inspection.
const (
	// wallTime is how long the parent waits before it kills a child, whatever else the machine does: a child that gets an eighth of a
	// processor may still use all of its copyTime. It decides nothing about the file.
	wallTime = 8 * copyTime * time.Second
	// orphanTime ends a child whose parent died before it could.
	orphanTime = wallTime + 2*time.Second
	// cpuTime is the processor time in seconds until the verdict. copyTime is the time with the published version, so that an
	// accepted file is not lost because of its public copy.
	cpuTime  = 5 * min(instrumented, 3)
	copyTime = 15
	// maxMemory bounds a child's real memory in bytes, libraries included.
	maxMemory = instrumented * 512 * mebibyte
	// maxData bounds the private writable memory (RLIMIT_DATA). It does not bound address space, since the Go runtime and the
	// libraries reserve far more than they use. The rest up to maxMemory is left to code and read-only pages.
	maxData = instrumented * 480 * mebibyte
	// maxAddresses bounds address space (RLIMIT_AS), so that shared and read-only mappings cannot grow without end either.
	maxAddresses = instrumented * 3072 * mebibyte
	// goMemory is the memory at which the child's Go half starts to collect eagerly (GOMEMLIMIT).
	goMemory = "192MiB"
	// maxWritten bounds each file that the child makes, in bytes.
	maxWritten = 32 * mebibyte
	// maxOpen bounds the child's file descriptors.
	maxOpen = 64
	// maxThreads bounds the child's threads, if the kernel counts them for the child alone (RLIMIT_NPROC).
	maxThreads = 64
	// maxComplaint is how many bytes of the child's standard error are kept.
	maxComplaint = 64 << 10
	// maxAnswer bounds the lines of the child's standard output, in bytes.
	maxAnswer = 16 << 10
)

// The limits of a file's structure.
const (
	// maxScans bounds the passes of a progressive JPEG: each walks the whole picture again.
	maxScans = 500
	// maxPictures bounds the further pictures of a multi-picture JPEG.
	maxPictures = 16
	// maxDecoded bounds one decoded stream of a PDF in bytes, images aside.
	maxDecoded = 32 * mebibyte
	// maxObjects bounds the objects of a PDF.
	maxObjects = 500_000
	// maxNesting bounds how deep arrays and dictionaries of a PDF, and its page tree, go.
	maxNesting = 64
	// maxNodes bounds the nodes of a page tree.
	maxNodes = 4096
	// maxSide bounds a page box in points (1/72 inch), user units included.
	maxSide = 200_000
	// maxTail bounds the bytes after the last %%EOF of a PDF.
	maxTail = 1024
)
