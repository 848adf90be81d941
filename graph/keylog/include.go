package keylog

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/lib/pq"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/platform/db"
)

// proven makes proofs of entries. A proof is by the head with the most lines of witnesses that has the entry, since the present head
// has none for a moment after each growth, and an agent that demands a quorum believes a proof with them at once. That an earlier
// head proves an entry is as good: the present one continues it (consistency).
type proven struct {
	api      *API
	ctx      context.Context //nolint:containedctx // it lives for one call
	on       db.Querier
	tree     reader // of the present head
	present  Head
	signed   []byte       // the present head
	cosigned []*cosigned  // in the order in which they are to be used
	notes    []signedHead // of those that were used
}

// cosigned is a head with the lines of witnesses.
type cosigned struct {
	Size  int64          `db:"size"`
	Lines pq.StringArray `db:"lines"`
}

// signedHead is a head with all its signatures.
type signedHead struct {
	Head

	signed []byte
}

// provenBy returns what proves entries of the present head. Faults as Prove.
func (a *API) provenBy(ctx context.Context, on db.Querier, present Head) (*proven, error) {
	signed, err := a.sign(ctx, on, present)
	if err != nil {
		return nil, err
	}
	cosigned, err := db.All[cosigned](ctx, on, named("most_cosigned"), present.Epoch, present.Size)
	return &proven{api: a, ctx: ctx, on: on, tree: hashesOf(ctx, on, present), present: present, signed: signed, cosigned: cosigned}, err
}

// head returns the head by which an entry is proven.
func (p *proven) head(index int64) (signedHead, error) {
	for _, found := range p.cosigned {
		if found.Size <= index {
			continue
		}
		if found.Size == p.present.Size {
			break
		}
		for _, made := range p.notes {
			if made.Size == found.Size {
				return made, nil
			}
		}
		root, err := tlog.TreeHash(found.Size, p.tree)
		if err != nil {
			return signedHead{}, broken(err)
		}
		head := Head{Epoch: p.present.Epoch, Origin: p.present.Origin, Size: found.Size, Root: root[:]}
		signed, err := p.api.signedNote(p.ctx, p.on, head)
		made := signedHead{head, withLines(signed, found.Lines)}
		p.notes = append(p.notes, made)
		return made, err
	}
	return signedHead{p.present, p.signed}, nil
}

// include returns the proof of an entry, as a file of C2SP's tlog-proof.
func (p *proven) include(index int64) ([]byte, error) {
	head, err := p.head(index)
	if err != nil {
		return nil, err
	}
	hashes, err := tlog.ProveRecord(head.Size, index, p.tree)
	if err != nil {
		return nil, broken(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "c2sp.org/tlog-proof@v1\nindex %d\n", index)
	for _, hash := range hashes {
		text.WriteString(encoded(hash) + "\n")
	}
	return bytes.Join([][]byte{[]byte(text.String()), head.signed}, []byte("\n")), nil
}
