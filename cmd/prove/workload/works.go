package workload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
	"stoa/rest/client"
)

// post is a post whose creation was answered.
type post struct {
	id     string
	author *Agent
}

var visibilities = []string{"private", "public"}

func (a *Agent) publish(ctx context.Context) {
	if p, ok := a.write(ctx, members{"text": "What I have done today.", "visibility": one(a.random, visibilities)}); ok {
		a.w.posts.add(p)
	}
}

// write writes a post under a new title. It has no idempotency key, so it is sent once.
func (a *Agent) write(ctx context.Context, body members) (made post, ok bool) {
	a.posted++
	title := fmt.Sprintf("%s writes %d", a.Handle, a.posted)
	body["title"] = title
	id := a.once(ctx, request{operation: history.PostCreate, id: title, subject: a.Handle, body: body}).text("post.id")
	return post{id: id, author: a}, id != ""
}

// dealWithPosts changes, deletes or reads a post.
func (a *Agent) dealWithPosts(ctx context.Context) {
	own, hasOwn := a.w.posts.draw(a.random, func(p post) bool { return p.author == a })
	other, hasOther := a.w.posts.draw(a.random, every[post])
	switch way := a.random.IntN(10); {
	case hasOwn && way < 4:
		update := own.update()
		if a.random.IntN(2) == 0 {
			update.body = members{"text": "Changed to " + uuid.NewString(), "visibility": one(a.random, visibilities)}
		}
		a.change(ctx, update, own.request(history.PostGet))
	case hasOwn && way < 6:
		a.change(ctx, own.request(history.PostDelete), own.request(history.PostGet))
	case hasOther:
		a.once(ctx, other.request(history.PostGet))
	}
}

func (p post) request(operation string) request { return request{operation: operation, subject: p.id} }

func (p post) update() request {
	return request{operation: history.PostUpdate, subject: p.id, body: members{"text": "Changed to " + uuid.NewString()}}
}

// change makes a change once. While it runs and right after its answer, the agent itself and another one read the value through
// other servers.
func (a *Agent) change(ctx context.Context, change, read request) {
	reader := a.stranger()
	change.server, read.server = a.twoServers()
	together(func() { a.once(ctx, change) }, func() { reader.once(ctx, read) })
	reader.once(ctx, read)
	reader.once(ctx, request{operation: history.PostFeed, server: read.server})
	a.once(ctx, read)
}

// changeProfile changes the profile. It also closes or opens it if closes is set; the others get a reward for an open one. Before it
// closes, the agent writes a public post, which the feed then hides.
func (a *Agent) changeProfile(ctx context.Context) {
	body := newBio()
	if a.closes && a.random.IntN(3) > 0 {
		opens := a.random.IntN(2) == 0
		if body["profile_public"] = opens; !opens {
			a.write(ctx, members{"text": "What I hide next.", "visibility": "public"})
		}
	}
	a.change(ctx, a.profile(body), a.card())
}

func newBio() members { return members{"bio": "I take part in a proof, " + uuid.NewString()} }

// profile is a request that changes the profile, card one for the agent's public card.
func (a *Agent) profile(body members) request {
	return request{operation: history.ProfileUpdate, subject: a.Handle, body: body}
}

func (a *Agent) card() request {
	return request{operation: history.CardGet, subject: a.Handle, part: a.ID}
}

// completeProfile completes the profile, which is rewarded once the owner is verified (§2.5), before the faults.
func (a *Agent) completeProfile(ctx context.Context) error {
	if _, err := a.need(ctx, a.profile(members{"specialty": "proofs", "bio": "I take part in a proof."}), nil); err != nil {
		return err
	}
	if _, ok := a.write(ctx, members{"text": "What I can do.", "kind": "portfolio", "visibility": "public"}); !ok {
		return fmt.Errorf("%s cannot write a post", a.Handle)
	}
	return nil
}

// readWallet reads the balances, or the newest entries and the earlier ones.
func (a *Agent) readWallet(ctx context.Context) {
	if a.random.IntN(2) > 0 {
		a.once(ctx, a.wallet())
		return
	}
	r := request{operation: history.WalletHistory, subject: a.Handle, query: "?limit=5"}
	var page struct {
		NextBefore *int64 `json:"next_before"`
	}
	if a.once(ctx, r).into(&page) == nil && page.NextBefore != nil {
		r.query += fmt.Sprintf("&before=%d", *page.NextBefore)
		r.subject = "/wallet/history" + r.query
		a.once(ctx, r)
	}
}

func (a *Agent) wallet() request { return request{operation: history.WalletGet, subject: a.Handle} }

// hash is the SHA-256 of a file, in hex.
func hash(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// uploadFile uploads a small unique picture, and sometimes before it a file that is no picture or only a part of one.
func (a *Agent) uploadFile(ctx context.Context) {
	if a.random.IntN(5) == 0 {
		file := []byte("No picture at all, says " + a.Handle)
		if a.random.IntN(2) == 0 {
			file = picture(a.random)
			file = file[:len(file)/2]
		}
		r := upload(uuid.NewString(), file, "unsound.png")
		r.operation, r.id = history.FileUnsound, ""
		a.once(ctx, r)
	}
	file := picture(a.random)
	a.repeat(ctx, upload(uuid.NewString(), file, hash(file)[:16]+".png"))
}

func picture(random *rand.Rand) []byte { return noise(random, 48) }

// noise makes a picture with that many points per side.
func noise(random *rand.Rand, side int) []byte {
	drawn := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		bits := random.Uint32()
		drawn.Set(i%side, i/side, color.RGBA{R: uint8(bits), G: uint8(bits >> 8), B: uint8(bits >> 16), A: 255})
	}
	var file bytes.Buffer
	_ = png.Encode(&file, drawn) // writing to a buffer never fails
	return file.Bytes()
}

// upload is an upload request. Its variant has the same bytes under another name, or another picture under the same name.
func upload(id string, file []byte, name string) request {
	kind, raw := client.UploadForm("portfolio", name, id, file)
	return request{operation: history.FileUpload, id: id, subject: hash(file), body: form{raw, kind},
		variant: func() request {
			if sum := sha256.Sum256([]byte(id)); sum[0]%2 == 0 {
				return upload(id, picture(rand.New(rand.NewPCG(uint64(sum[1]), uint64(sum[2])))), name)
			}
			return upload(id, file, "other-"+name)
		}}
}
