package inspection

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Report is the result of an inspection, with the paths of the files that it made.
type Report struct {
	// Accepted is whether the file may be kept.
	Accepted bool
	// Reason is one English sentence for the sender, empty when accepted.
	Reason string
	// MediaType is the type of the bytes. It is empty for a file of an unknown type, and may be empty for other refused files.
	MediaType MediaType
	// Width and Height are an accepted image's pixels as displayed, upright; 0 for a PDF.
	Width, Height int
	// Pages is an accepted PDF's number of pages; 0 for an image.
	Pages int
	// Preview is the path of a JPEG, longest side at most 1024 pixels, sRGB, upright, without metadata: the image, or the
	// PDF's first page on white. At most 1 MiB, and 4 KiB and 3 bytes a pixel. Empty when refused and for Publication.
	Preview string
	// Published is the path of the copy that others than the owner may download, of the same MediaType: an image, longest side at
	// most 4096 pixels, sRGB, upright, without metadata, a PNG with all its colours and transparency; a PDF without document
	// information, XMP, PieceInfo, OPI, thumbnails, authors of annotations, and metadata of its images. Empty when refused, for
	// Order, and of a JPEG that the preview shows at its full size.
	Published string

	// Processor is the processor time that the child took.
	Processor time.Duration

	// Ending is how the child ended; unless it is Completed, the file is refused because of that ending.
	Ending Ending

	folder *folder
}

// Remove deletes Preview and Published. Call it once for every report, accepted or not.
func (r Report) Remove() error {
	if r.folder == nil {
		return nil
	}
	return r.folder.remove()
}

// response is the content of the child's standard output.
type response struct {
	Accepted  bool      `json:"accepted"`
	Reason    string    `json:"reason"`
	MediaType MediaType `json:"media_type"`
	Width     int       `json:"width"`
	Height    int       `json:"height"`
	Pages     int       `json:"pages"`
}

// The names of the child's results in its folder.
const (
	previewName   = "preview"
	publishedName = "published"
)

// collect moves the child's results out of its folder, and completes the report. The child may have been taken over by its file,
// so nothing it says or leaves is believed: numbers must be within limits, and files regular and of the right type; anything else
// is refused.
func collect(report Report, answer response, p Purpose) (Report, error) {
	if !answer.plausible(p) {
		return refuse(report), nil
	}
	for n, name := range purposes[p].makes {
		media, made := JPEG, &report.Preview
		if name == publishedName {
			media, made = answer.MediaType, &report.Published
		}
		to := filepath.Join(report.folder.path, name)
		err := os.Rename(filepath.Join(report.folder.work(), name), to)
		switch {
		case os.IsNotExist(err) && n > 0 && showsAll(answer.MediaType, answer.Width, answer.Height):
			continue
		case os.IsNotExist(err):
			return refuse(report), nil
		case err != nil:
			return Report{}, err
		}
		sound, err := takeOwnership(to, media)
		if err != nil {
			return Report{}, err
		}
		if !sound {
			return refuse(report), nil
		}
		*made = to
	}
	report.Accepted = true
	report.Width, report.Height, report.Pages = answer.Width, answer.Height, answer.Pages
	return report, nil
}

// refuse makes the report of a response that makes no sense.
func refuse(report Report) Report {
	return Report{MediaType: report.MediaType, Reason: refusedLimits.Error(), Processor: report.Processor, folder: report.folder}
}

// maxReason bounds a reason in bytes.
const maxReason = 128

// wellFormed reports whether a response has the form of ours, so that it can be shown to the sender and recorded: a known
// type, and a reason, short and of printable ASCII, exactly when it refuses.
func (r response) wellFormed() bool {
	odd := strings.ContainsFunc(r.Reason, func(r rune) bool { return r < ' ' || r > '~' })
	return (r.MediaType == "" || Portfolio.takes(r.MediaType)) && r.Accepted == (r.Reason == "") &&
		len(r.Reason) <= maxReason && !odd
}

// plausible reports whether an acceptance could be one of ours.
func (r response) plausible(p Purpose) bool {
	if r.MediaType == PDF {
		return p.takes(PDF) && r.Pages > 0 && r.Pages <= maxPages && r.Width == 0 && r.Height == 0
	}
	return p.takes(r.MediaType) && r.Pages == 0 && size{r.Width, r.Height}.check() == nil
}

// takeOwnership checks a file the child wrote, which the child can no longer reach, and makes it the parent's own. It
// never follows a link and never waits on a pipe.
func takeOwnership(path string, t MediaType) (sound bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, fmt.Errorf("inspection: no owner of %s", path)
	}
	if !info.Mode().IsRegular() || owner.Nlink != 1 || info.Size() > maxWritten {
		return false, nil
	}
	if os.Geteuid() == 0 {
		if err := f.Chown(0, 0); err != nil {
			return false, err
		}
	}
	if err := f.Chmod(0o600); err != nil {
		return false, err
	}
	for _, known := range magics {
		if known.media == t {
			head := make([]byte, len(known.magic))
			_, err := io.ReadFull(f, head)
			return err == nil && bytes.Equal(head, known.magic), nil
		}
	}
	return false, nil
}

// Ending is how a child ended.
type Ending string

// The endings of a Report.
const (
	// Completed says that the child wrote a response.
	Completed Ending = ""
	// Limited says that it reached a limit of processor time or memory.
	Limited Ending = "limited"
	// Crashed says that it ended without a response for a reason that is not known to be the file: it was killed, broke down, or was
	// given too little of the processor. The same file may be inspected again.
	Crashed Ending = "crashed"
)

// spentTime is all the processor time of a child until its verdict, minus the kernel's rounding. A child that was ended after so much
// of it reached its limit; one that was ended with less was waiting for the machine. Tests have a shorter one.
var spentTime = (cpuTime - 1) * time.Second

// outOfMemory matches the messages of the Go runtime, GLib, the C++ library and libvips about a lack of memory.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|[Ff]ailed to allocate|bad_alloc|pthread_create failed`)

// ending returns how the child ended.
func (p *process) ending(purpose Purpose) Ending {
	state, limit := p.cmd.ProcessState, spentTime
	status, _ := state.Sys().(syscall.WaitStatus)
	if purpose.publishes() && status.Signaled() { // at its verdict's limit it ends by itself (SIGXCPU)
		limit += (copyTime - cpuTime) * time.Second
	}
	switch {
	case state.ExitCode() == 0:
		return Completed
	case status.Signaled() && status.Signal() == syscall.SIGXCPU,
		state.UserTime()+state.SystemTime() >= limit,
		state.ExitCode() == exitPanic && outOfMemory.Match(p.stderr.kept):
		return Limited
	default:
		return Crashed
	}
}
