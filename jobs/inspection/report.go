package inspection

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Report is the result of an inspection, with the files that it made.
type Report struct {
	// Accepted is true if the file may be kept.
	Accepted bool `json:"accepted"`
	// Reason is one English sentence for the sender, empty when accepted.
	Reason string `json:"reason"`
	// MediaType is the type of the bytes. It is empty for a file of an unknown type, and may be empty for other refused files.
	MediaType MediaType `json:"media_type"`
	// Width and Height are an accepted image's pixels as displayed, upright; 0 for a PDF.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Pages is an accepted PDF's number of pages; 0 for an image.
	Pages int `json:"pages"`
	// Preview is a JPEG, longest side at most 1024 pixels, sRGB, upright, without metadata: the image, or the PDF's first page on
	// white. At most 1 MiB, and 4 KiB and 3 bytes a pixel. Empty when refused and for Publication.
	Preview []byte `json:"-"`
	// Published is the copy that others may download, of the same MediaType: an image, longest side at most 4096 pixels, sRGB,
	// upright, without metadata, a PNG with all its colours and transparency; a PDF without document information, XMP, PieceInfo,
	// OPI, thumbnails, authors of annotations, and metadata of its images. Empty when refused, for Order, and for a JPEG that the
	// preview shows at its full size.
	Published []byte `json:"-"`
	// Processor is the processor time that the child took.
	Processor time.Duration `json:"-"`
	// Ending is how the child ended; unless it is Completed, the file is refused because of that ending.
	Ending Ending `json:"-"`
}

// response is a line of the child's standard output. The preview and the published version follow it, in these sizes in bytes.
type response struct {
	Report

	PreviewSize   int `json:"preview_size"`
	PublishedSize int `json:"published_size"`
}

// readReport reads a response and its files. The file may have taken over the child, so the response is not trusted: numbers
// must be within limits, and files of the right types; anything else is refused.
func readReport(answer []byte, p Purpose) Report {
	var r response
	senseless := Report{Reason: refusedLimits.Error()}
	line, files, _ := bytes.Cut(answer, []byte{'\n'})
	if json.Unmarshal(line, &r) != nil || !r.wellFormed() {
		return senseless
	}
	if senseless.MediaType = r.MediaType; !r.Accepted {
		return Report{MediaType: r.MediaType, Reason: r.Reason}
	}
	if !r.plausible(p) || !r.divide(files) || !r.complete(p) {
		return senseless
	}
	return r.Report
}

// divide takes the files, which must have the sizes that the response names.
func (r *response) divide(files []byte) bool {
	if min(r.PreviewSize, r.PublishedSize) < 0 || max(r.PreviewSize, r.PublishedSize) > maxWritten ||
		r.PreviewSize+r.PublishedSize != len(files) {
		return false
	}
	r.Preview, r.Published = files[:r.PreviewSize:r.PreviewSize], files[r.PreviewSize:]
	return true
}

// complete reports whether r has the files of the purpose, by their first bytes.
func (r *Report) complete(p Purpose) bool {
	makes, preview, published := purposes[p], len(r.Preview) > 0, len(r.Published) > 0
	spared := makes.preview && !published && showsAll(r.MediaType, r.Width, r.Height)
	return preview == makes.preview && (published == makes.published || spared) &&
		(!preview || bytes.HasPrefix(r.Preview, jpegMagic)) && (!published || bytes.HasPrefix(r.Published, magics[r.MediaType]))
}

// maxReason bounds a reason in bytes.
const maxReason = 128

// wellFormed reports whether a report has our form, so that it can be shown to the sender and recorded: a known type, and a
// short reason of printable ASCII if and only if it refuses.
func (r *Report) wellFormed() bool {
	odd := strings.ContainsFunc(r.Reason, func(r rune) bool { return r < ' ' || r > '~' })
	return (r.MediaType == "" || Portfolio.takes(r.MediaType)) && r.Accepted == (r.Reason == "") &&
		len(r.Reason) <= maxReason && !odd
}

// plausible reports whether an inspection can accept a file with these values.
func (r *Report) plausible(p Purpose) bool {
	if r.MediaType == PDF {
		return p.takes(PDF) && r.Pages > 0 && r.Pages <= maxPages && r.Width == 0 && r.Height == 0
	}
	return p.takes(r.MediaType) && r.Pages == 0 && size{r.Width, r.Height}.check() == nil
}

// Ending is how a child ended.
type Ending string

// The endings of a Report.
const (
	// Completed means that the child wrote a response.
	Completed Ending = ""
	// Limited means that it reached a limit of processor time or memory.
	Limited Ending = "limited"
	// Crashed means that it ended without a response, and the file is not known to be the reason: it was killed, broke down, or
	// got too little of the processor. The same file may be inspected again.
	Crashed Ending = "crashed"
)

// spentTime is all the processor time of a child, minus the kernel's rounding. A child that used this much before its end reached
// its limit; a child that used less was waiting for the machine. Tests have a shorter time.
var spentTime = (copyTime - 1) * time.Second

// outOfMemory matches the messages of the Go runtime, GLib, the C++ library and libvips about a lack of memory.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|[Ff]ailed to allocate|bad_alloc|pthread_create failed`)

// ending returns how the child ended.
func (p *process) ending() Ending {
	state := p.cmd.ProcessState
	switch {
	case state.ExitCode() == 0:
		return Completed
	case state.ExitCode() == exitSpent,
		state.UserTime()+state.SystemTime() >= spentTime,
		state.ExitCode() == exitPanic && outOfMemory.Match(p.stderr.kept):
		return Limited
	default:
		return Crashed
	}
}

// refusal is why a file is refused: one English sentence for its sender.
type refusal string

// Error is the sentence itself, so that a scan can return a refusal as an error.
func (r refusal) Error() string { return string(r) }

// Every reason a file is refused for.
const (
	refusedEmpty       refusal = "The file is empty."
	refusedSize        refusal = "The file is larger than 20 MiB."
	refusedUnknown     refusal = "The file is not a JPEG, PNG or PDF by its content."
	refusedPurpose     refusal = "A PDF is not allowed for this purpose: send a JPEG or PNG."
	refusedArchive     refusal = "The file is an archive as well as what it starts as."
	refusedTrailing    refusal = "Bytes follow the end of the image."
	refusedForeign     refusal = "Another format follows the end of the image."
	refusedCut         refusal = "The file ends too early."
	refusedMalformed   refusal = "The file's structure is damaged."
	refusedChecksum    refusal = "A checksum in the file does not match its data."
	refusedCoding      refusal = "The image uses a coding that is not supported."
	refusedPixels      refusal = "The image has more than 20 million pixels."
	refusedAnimated    refusal = "Animated images are not allowed."
	refusedUndecodable refusal = "The file cannot be decoded."
	refusedEncrypted   refusal = "Encrypted PDFs are not allowed."
	refusedActive      refusal = "The PDF has active content: scripts, forms that send, media, attached files, " +
		"streams kept elsewhere or actions."
	refusedLink      refusal = "The PDF links to something other than http, https and mailto."
	refusedNesting   refusal = "The PDF nests its objects too deeply."
	refusedExpansion refusal = "The PDF holds a stream that expands to more than 32 MiB."
	refusedNoPages   refusal = "The PDF has no pages."
	refusedPages     refusal = "The PDF has more than 200 pages."
	refusedBox       refusal = "A page of the PDF has no usable size."
	refusedImage     refusal = "An image inside the PDF cannot be read."
	refusedRewrite   refusal = "The PDF cannot be written again without its private parts."
	refusedLimits    refusal = "The file could not be inspected within the limits of time and memory."
)
