package attachments

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
)

// PreviewInput names a file and, for a PDF, a page.
type PreviewInput struct {
	AttachmentID string     `json:"-" path:"attachment_id"`
	Page         page.Param `json:"-" query:"page"`
}

// PageDrawer draws one page of a PDF that was accepted before, as the report's preview. It has the errors of an Inspector.
type PageDrawer func(ctx context.Context, original *os.File, page int) (Report, error)

// maxPageNumber bounds the page number before the file is known.
const maxPageNumber = 100_000

// pageWait is how long a reader waits while pages of other readers are drawn.
var pageWait = slack.Of(10 * time.Second)

// pageTurns bounds the drawing of pages by this process: one at a time, and for each agent only one that is drawn or waits, so
// that agents take turns.
type pageTurns struct {
	turn   *semaphore.Weighted
	agents sync.Map
}

func (p *pageTurns) take(ctx context.Context, agent uuid.UUID) (release func(), err error) {
	if _, present := p.agents.LoadOrStore(agent, true); present {
		return nil, fault.New(fault.UploadBusy).Say("Another page is being drawn for you; ask again when you have it.")
	}
	waited, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	if err := p.turn.Acquire(waited, 1); err != nil {
		p.agents.Delete(agent)
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fault.New(fault.UploadBusy).Say("Too many pages are being drawn at the moment.")
	}
	return func() { p.turn.Release(1); p.agents.Delete(agent) }, nil
}

var drawnPages = pageTurns{turn: semaphore.NewWeighted(1)}

// AttachmentPage returns the preview, or the page of a PDF that the caller names, drawn like the preview (§4.8). It is drawn on
// request, and its processor time counts against the caller like an inspection. Faults: invalid_pagination if page is no number;
// those of AttachmentPreview; invalid_pagination if the file has no such page; for a page other than the first also unauthorized
// without a token, upload_busy if the caller's processor time is used up or others' pages are being drawn, invalid_file if the
// page cannot be drawn within the limits of an inspection, or service_unavailable if this machine cannot draw it.
func (a *API) AttachmentPage(ctx context.Context, in PreviewInput) (*File, error) {
	number, err := page.Integer(fault.InvalidPagination, "page", in.Page, page.Range{Absent: 1, Least: 1, Most: maxPageNumber})
	if err != nil {
		return nil, err
	}
	if number == 1 {
		return a.AttachmentPreview(ctx, AttachmentInput{AttachmentID: in.AttachmentID})
	}
	r, granted, err := a.readAvailable(ctx, in.AttachmentID)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Pages == nil:
		return nil, fault.Field(fault.InvalidPagination, "page", "must be 1: the file is a picture")
	case number > int64(*r.Pages):
		return nil, fault.Field(fault.InvalidPagination, "page", fmt.Sprintf("must be at most %d, the number of pages of the file", *r.Pages))
	}
	drawn, err := a.drawPage(ctx, r, int(number))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(drawn)
	return &File{
		Name: r.shownName(granted, fmt.Sprintf("-page-%d", number), jpeg), MediaType: jpeg, Size: int64(len(drawn)), Tag: tag(sum[:]),
		Public: granted == ofPublic, made: drawn,
	}, nil
}

// drawPage draws a page and charges the processor time to the caller.
func (a *API) drawPage(ctx context.Context, r *row, number int) (drawn []byte, err error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	if a.DrawPage == nil {
		return nil, fault.New(fault.ServiceUnavailable).Say("This server draws no pages.")
	}
	used, err := db.One[usage](ctx, a.DB.SQL, named("read_usage"), everyone, v.BotID, uuid.Nil)
	if err != nil {
		return nil, err
	}
	if err := used.checkTime(a.Quotas); err != nil {
		return nil, err
	}
	ctx = db.Unbounded(ctx) // drawing is not limited by the time of a database request
	release, err := drawnPages.take(ctx, v.BotID)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx = context.WithoutCancel(ctx) // the time is also charged if the reader has gone
	original, err := a.openOriginal(ctx, r.ID)
	if err != nil {
		return nil, fault.Wrap(fault.ServiceUnavailable, err)
	}
	defer func() { err = errors.Join(err, original.Close()) }()
	report, err := a.DrawPage(ctx, original, number)
	charging, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	if charged := a.charge(charging, v.BotID, report); err != nil || charged != nil {
		return nil, fault.Wrap(fault.ServiceUnavailable, errors.Join(err, charged))
	}
	if !report.Accepted {
		return nil, fault.New(fault.InvalidFile).Say(fmt.Sprintf("Page %d cannot be drawn. %s", number, report.Reason))
	}
	return report.Preview, nil
}
