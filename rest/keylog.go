package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/keylog"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/graph/receipts"
	"stoa/graph/webhooks"
)

// Media types of the key log, and the times for which clients may cache its parts, the keys, and other descriptions (§12.2).
const (
	plainText   = "text/plain; charset=utf-8"
	octets      = "application/octet-stream"
	unchanging  = "public, max-age=31536000, immutable"
	checkpoints = "public, max-age=1"
	pageAge     = "public, max-age=300"
)

// consistency is the path of the proofs between two heads of an epoch.
const consistency = "consistency"

// logParameters holds the query parameters of descriptions.
var logParameters = map[string][]string{"/log/{epoch}/" + consistency: {"old"}}

// logAnswer is a part of the key log.
type logAnswer struct {
	mediaType, age string
	body           []byte
}

// logRoutes returns the routes of the key log, below the number of an epoch. They need no token, and pages of any origin may read
// them.
func (s *server) logRoutes() map[string]http.Handler {
	log := s.Graph.KeyLog
	tile := func(ctx context.Context, r *http.Request, epoch int) (logAnswer, error) {
		_, path, _ := strings.Cut(r.URL.Path, "/tile/")
		named := strings.NewReplacer("data", "-", "entries", "data").Replace(path) // the library calls entries data
		tile, err := tlog.ParseTilePath("tile/8/" + named)                         // a tile has exactly one path
		if err != nil {
			return logAnswer{}, fault.New(fault.NotFound)
		}
		body, err := log.Tile(ctx, epoch, tile)
		return logAnswer{octets, unchanging, body}, err
	}
	routes := map[string]func(context.Context, *http.Request, int) (logAnswer, error){
		"checkpoint": func(ctx context.Context, _ *http.Request, epoch int) (logAnswer, error) {
			checkpoint, err := log.Checkpoint(ctx, epoch)
			return logAnswer{plainText, checkpoints, checkpoint}, err
		},
		"tile/{level}/{n}":         tile,
		"tile/{level}/{n}/{width}": tile,
		"tile/*":                   tile, // numbers of more than three digits
		consistency: func(ctx context.Context, r *http.Request, epoch int) (logAnswer, error) {
			old, ok := number(r.URL.Query().Get("old"))
			if !ok || len(r.URL.Query()["old"]) != 1 {
				return logAnswer{}, fault.Field(fault.InvalidInput, "old", "must be the size of an earlier head")
			}
			proof, err := log.Prove(ctx, epoch, old)
			if err != nil {
				return logAnswer{}, err
			}
			body, err := wire.Marshal(proof)
			return logAnswer{web.JSONType, checkpoints, body}, err
		},
		"proof/{index}": func(ctx context.Context, r *http.Request, epoch int) (logAnswer, error) {
			index, ok := number(chi.URLParam(r, "index"))
			if !ok {
				return logAnswer{}, fault.New(fault.NotFound)
			}
			proof, err := log.Include(ctx, epoch, index)
			return logAnswer{plainText, checkpoints, proof}, err
		},
	}
	handlers := make(map[string]http.Handler, len(routes))
	for path, answer := range routes {
		handlers["/log/{epoch}/"+path] = s.anonymous(func(w http.ResponseWriter, r *http.Request) error {
			epoch, ok := number(chi.URLParam(r, "epoch"))
			if !ok || epoch != int64(int32(epoch)) {
				return fault.New(fault.NotFound)
			}
			found, err := answer(r.Context(), r, int(epoch))
			if err != nil {
				return err
			}
			h := w.Header()
			h.Set("Cache-Control", found.age)
			h.Set("Content-Type", found.mediaType)
			web.WriteBody(w, http.StatusOK, found.body)
			return nil
		})
	}
	return handlers
}

// number parses a number of at least 0. A number has exactly one form.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}

// publishedKeys serves /.well-known/stoa-keys.json: the keys that sign webhook deliveries, and the name and keys of the key log.
func (s *server) publishedKeys() http.Handler {
	return s.anonymous(func(w http.ResponseWriter, r *http.Request) error {
		log, err := s.Graph.KeyLog.Published(r.Context())
		if err != nil {
			return err
		}
		body, err := wire.Marshal(struct {
			webhooks.Keys

			Log *keylog.Published `json:"log"`
		}{s.Graph.Webhooks.PublishedKeys(), log})
		s.writePage(w, r, web.JSONType, checkpoints, body, err)
		return nil
	})
}

// keysKept is the time for which a process caches the receipt keys, and in which a client may not know the key of a new receipt.
// newKeysKept applies while a key is not in the log yet.
const (
	keysKept    = 5 * time.Second
	newKeysKept = time.Second
)

// readKeys is a cached key set, valid until a time.
type readKeys struct {
	raw   []byte
	until time.Time
}

// receiptKeys serves the keys that verify receipts (§12.5). Unlike the other descriptions they can change while the process
// lives, by a rotation. If the database is unavailable, it answers with the keys that it read last.
func (s *server) receiptKeys() http.Handler {
	var last atomic.Pointer[readKeys]
	keys := func(ctx context.Context) ([]byte, error) {
		known := last.Load()
		if known != nil && time.Now().Before(known.until) {
			return known.raw, nil
		}
		ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
		defer cancel()
		set, err := s.Graph.Receipts.PublishedKeys(ctx)
		switch {
		case err != nil && known == nil:
			return nil, err
		case err != nil:
			return known.raw, nil
		}
		raw, err := json.Marshal(set)
		if err == nil {
			kept := keysKept
			if slices.ContainsFunc(set.Keys, func(key *receipts.PublishedKey) bool { return key.LogProof == nil }) {
				kept = newKeysKept
			}
			last.Store(&readKeys{raw, time.Now().Add(kept)})
		}
		return raw, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := keys(r.Context())
		s.writePage(w, r, "application/json", checkpoints, raw, err)
	})
}
