package inspection

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// collect moves what the child says it made out of its folder, and completes the report. The child may have been taken
// over by its file, so nothing it says or leaves is believed: figures must be within limits, and files plain and of the
// right type; anything else is a refusal.
func collect(report Report, answer verdict, p Purpose) (Report, error) {
	made := []struct {
		name  string
		wants bool
		media MediaType
		to    *string
	}{
		{previewName, true, JPEG, &report.Preview},
		{publishedName, purposes[p].publish, published(answer.MediaType), &report.Published},
	}
	if !answer.plausible(p) {
		return refuse(report), nil
	}
	for _, m := range made {
		if !m.wants {
			continue
		}
		to := filepath.Join(report.folder.path, m.name)
		if err := os.Rename(filepath.Join(report.folder.work(), m.name), to); os.IsNotExist(err) {
			return refuse(report), nil
		} else if err != nil {
			return Report{}, err
		}
		sound, err := adopt(to, m.media)
		if err != nil {
			return Report{}, err
		}
		if !sound {
			return refuse(report), nil
		}
		*m.to = to
	}
	report.Accepted = true
	report.Width, report.Height, report.Pages = answer.Width, answer.Height, answer.Pages
	return report, nil
}

// refuse makes a report of a child whose answer makes no sense.
func refuse(report Report) Report {
	return Report{MediaType: report.MediaType, Reason: refusedLimits.Error(), folder: report.folder}
}

// published is the type of the published version of a file.
func published(t MediaType) MediaType {
	if t == PDF {
		return PDF
	}
	return JPEG
}

// maxReason bounds a reason in bytes.
const maxReason = 128

// presentable tells whether a verdict has the form of ours, so that its sender and our records can be shown it: a known
// type, and a reason, short and of printable ASCII, exactly when it refuses.
func (v verdict) presentable() bool {
	odd := strings.ContainsFunc(v.Reason, func(r rune) bool { return r < ' ' || r > '~' })
	return (v.MediaType == "" || Portfolio.takes(v.MediaType)) && v.Accepted == (v.Reason == "") && len(v.Reason) <= maxReason && !odd
}

// plausible tells whether an acceptance could be one of ours.
func (v verdict) plausible(p Purpose) bool {
	if v.MediaType == PDF {
		return p.takes(PDF) && v.Pages > 0 && v.Pages <= maxPages && v.Width == 0 && v.Height == 0
	}
	return p.takes(v.MediaType) && v.Pages == 0 && size{v.Width, v.Height}.check() == nil
}

// adopt checks a file the child wrote, which now lies where the child cannot reach, and makes it the parent's own. It
// never follows a link and never waits on a pipe.
func adopt(path string, t MediaType) (sound bool, err error) {
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
