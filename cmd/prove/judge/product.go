package judge

import (
	"fmt"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// The values of registers that are judged by name.
const (
	open      = "open"
	private   = "private"
	public    = "public"
	deleted   = "deleted"
	selected  = "selected"
	withdrawn = "withdrawn"
)

// write is a value that a request has written, or may have written.
type write struct {
	start, end time.Duration
	// certain: the request was answered with success.
	certain bool
	value   string
}

// register holds the values written to one thing, including the initial one.
type register []write

// newRegister returns a register with a value from before the run.
func newRegister(value string) register {
	return register{{start: -2, end: -1, certain: true, value: value}}
}

// add adds the value of an attempt, if it may have acted and there is a value.
func (g register) add(a *history.Attempt, value *string) register {
	if !mayHaveActed(a) || value == nil {
		return g
	}
	w := write{start: a.Start, end: a.End, certain: a.Succeeded(), value: *value}
	if !w.certain {
		w.end += straggling
	}
	return append(g, w)
}

// possible returns the values that a read may show: written before its end, and not certainly overwritten before its start.
func (g register) possible(start, end time.Duration) (values []string) {
	for _, w := range g {
		overwritten := slices.ContainsFunc(g, func(later write) bool { return later.certain && later.start > w.end && later.end < start })
		if w.start < end && !overwritten {
			values = append(values, w.value)
		}
	}
	return values
}

// may reports whether a read may show a value.
func (g register) may(a *history.Attempt, value string) bool {
	return slices.Contains(g.possible(a.Start, a.End), value)
}

// product holds the changes of profiles and posts.
type product struct {
	// openness and bios are by the agent's handle, texts and visibility by the post's id.
	openness, bios, texts, visibility map[string]register
	// created are the attempts that have made the posts, by the post's id.
	created map[string]*history.Attempt
}

func newProduct(r *run) *product {
	p := &product{
		openness: make(map[string]register), bios: make(map[string]register), texts: make(map[string]register),
		visibility: make(map[string]register), created: make(map[string]*history.Attempt),
	}
	for _, m := range r.Members {
		p.openness[m.Handle], p.bios[m.Handle] = newRegister(open), newRegister("")
	}
	for i := range r.Attempts {
		p.note(&r.Attempts[i])
	}
	return p
}

// note adds the changes of an attempt.
func (p *product) note(a *history.Attempt) {
	set := func(registers map[string]register, of string, value *string) {
		registers[of] = registers[of].add(a, value)
	}
	value := func(text string) *string { return &text }
	s := sent(a)
	switch a.Operation {
	case history.ProfileUpdate:
		set(p.bios, a.Agent, s.Bio)
		if s.ProfilePublic != nil && *s.ProfilePublic {
			set(p.openness, a.Agent, value(open))
		} else if s.ProfilePublic != nil {
			set(p.openness, a.Agent, value(closed))
		}
	case history.ErasureRequest: // it hides the profile
		set(p.openness, a.Agent, value(closed))
	case history.PostCreate:
		if id := got(a).Post.ID; a.Succeeded() && id != "" && s.Text != nil {
			if s.Visibility == nil {
				s.Visibility = value(private)
			}
			p.created[id], p.texts[id], p.visibility[id] = a, register{}.add(a, s.Text), register{}.add(a, s.Visibility)
		}
	case history.PostUpdate:
		set(p.texts, a.Subject, s.Text)
		set(p.visibility, a.Subject, s.Visibility)
	case history.PostDelete:
		set(p.visibility, a.Subject, value(deleted))
	}
}

// author returns the handle of a post's author, or nothing if the post's creation is unknown.
func (p *product) author(post string) string {
	if made := p.created[post]; made != nil {
		return made.Agent
	}
	return ""
}

// maySee reports whether the agent of a reading may see a post.
func (p *product) maySee(a *history.Attempt, post string) bool {
	visibility, author := p.visibility[post], p.author(post)
	return visibility.may(a, public) && (author == a.Agent || p.openness[author].may(a, open)) || author == a.Agent && visibility.may(a, private)
}

// mayMiss reports whether a post may be hidden from the agent of a reading.
func (p *product) mayMiss(a *history.Attempt, post string) bool {
	visibility, author := p.visibility[post], p.author(post)
	return visibility.may(a, deleted) || author != a.Agent && (visibility.may(a, private) || p.openness[author].may(a, closed))
}

var checkProfiles = each(brokenCard, history.CardGet)

func brokenCard(r *run, a *history.Attempt) string {
	profile, b := r.product.openness[a.Subject], got(a)
	switch {
	case a.Code == "not_found" && !profile.may(a, closed):
		return ", but the profile was open"
	case !a.Succeeded():
	case a.Body == nil:
		return unreadable
	case !profile.may(a, open):
		return ", but the profile was closed"
	case !r.product.bios[a.Subject].may(a, b.Bot.Bio):
		return fmt.Sprintf(" shows the bio %q, which is another by then", b.Bot.Bio)
	}
	return ""
}

// unreadable is the complaint about an answer whose body was not recorded.
const unreadable = " has no readable answer"

var checkPostReadings = each(brokenPost, history.PostGet)

func brokenPost(r *run, a *history.Attempt) string {
	p, text := r.product, got(a).Post.Text
	switch {
	case p.author(a.Subject) == "":
	case a.Code == "not_found" && !p.mayMiss(a, a.Subject):
		return ", but the post was there to be seen"
	case !a.Succeeded():
	case !p.maySee(a, a.Subject):
		return ", but the post was deleted, private or of a closed profile"
	case !p.texts[a.Subject].may(a, text):
		return fmt.Sprintf(" shows the text %q, which is another by then", text)
	}
	return ""
}

// checkFeed judges each post on a page of the feed as a read of the post.
func checkFeed(r *run, f *Finding) {
	p := r.product
	for _, a := range r.answered(history.PostFeed) {
		f.Looked++
		listed := make(map[string]bool)
		b, _ := read(f, a)
		for _, post := range b.Posts {
			author := p.author(post.ID)
			switch {
			case listed[post.ID]:
				f.violatedf("%s lists post %s twice", Describe(a), post.ID)
			case author == "":
			case author != r.handles[post.Author.ID] || !p.maySee(a, post.ID):
				f.violatedf("%s lists post %s of %s, which was deleted, private or of a closed profile", Describe(a), post.ID, author)
			case !p.texts[post.ID].may(a, post.Text):
				f.violatedf("%s lists post %s with the text %q, which is another by then", Describe(a), post.ID, post.Text)
			}
			listed[post.ID] = true
		}
	}
}
