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

// product holds the values of profiles and posts: a register for each member of an agent, by its handle, or of a post, by its id.
type product struct {
	registers map[[2]string]register
	authors   map[string]string // handles, by post
}

// The members.
const (
	profileOpenness, profileBio = "openness", "bio"
	postText, postVisibility    = "text", "visibility"
)

func newProduct(r *run) *product {
	p := &product{make(map[[2]string]register), make(map[string]string)}
	for agent := range r.ids {
		p.registers[[2]string{profileOpenness, agent}], p.registers[[2]string{profileBio, agent}] = newRegister(open), newRegister("")
	}
	for _, a := range r.all {
		p.note(a)
	}
	return p
}

// note adds the changes of an attempt.
func (p *product) note(a *history.Attempt) {
	set := func(member, of string, value *string) {
		key := [2]string{member, of}
		p.registers[key] = p.registers[key].add(a, value)
	}
	value := func(text string) *string { return &text }
	s := sent(a)
	switch a.Operation {
	case history.ProfileUpdate:
		set(profileBio, a.Agent, s.Bio)
		if s.ProfilePublic != nil && *s.ProfilePublic {
			set(profileOpenness, a.Agent, value(open))
		} else if s.ProfilePublic != nil {
			set(profileOpenness, a.Agent, value(closed))
		}
	case history.ErasureRequest: // it hides the profile
		set(profileOpenness, a.Agent, value(closed))
	case history.PostCreate:
		if id := got(a).Post.ID; a.Succeeded() && id != "" && s.Text != nil {
			if s.Visibility == nil {
				s.Visibility = value(private)
			}
			p.authors[id] = a.Agent
			set(postText, id, s.Text)
			set(postVisibility, id, s.Visibility)
		}
	case history.PostUpdate:
		set(postText, a.Subject, s.Text)
		set(postVisibility, a.Subject, s.Visibility)
	case history.PostDelete:
		set(postVisibility, a.Subject, value(deleted))
	}
}

// may reports whether a read may show a value of a member.
func (p *product) may(a *history.Attempt, member, of, value string) bool {
	return slices.Contains(p.registers[[2]string{member, of}].possible(a.Start, a.End), value)
}

// maySee reports whether the agent of a reading may see a post.
func (p *product) maySee(a *history.Attempt, post string) bool {
	author := p.authors[post]
	return p.may(a, postVisibility, post, public) && (author == a.Agent || p.may(a, profileOpenness, author, open)) ||
		author == a.Agent && p.may(a, postVisibility, post, private)
}

// mayMiss reports whether a post may be hidden from the agent of a reading.
func (p *product) mayMiss(a *history.Attempt, post string) bool {
	author := p.authors[post]
	return p.may(a, postVisibility, post, deleted) ||
		author != a.Agent && (p.may(a, postVisibility, post, private) || p.may(a, profileOpenness, author, closed))
}

var checkProfiles = each(func(r *run, a *history.Attempt) string {
	mayMiss, maySee := r.product.may(a, profileOpenness, a.Subject, closed), r.product.may(a, profileOpenness, a.Subject, open)
	return r.product.brokenReading(a, mayMiss, maySee, profileBio, got(a).Bot.Bio)
}, history.CardGet)

var checkPostReadings = each(func(r *run, a *history.Attempt) string {
	if r.product.authors[a.Subject] == "" {
		return ""
	}
	return r.product.brokenReading(a, r.product.mayMiss(a, a.Subject), r.product.maySee(a, a.Subject), postText, got(a).Post.Text)
}, history.PostGet)

// brokenReading complains about the reading of a thing that may be missed or seen then, and about the value of a member that it shows.
func (p *product) brokenReading(a *history.Attempt, mayMiss, maySee bool, member, value string) string {
	switch {
	case a.Code == "not_found" && !mayMiss:
		return ", but it was there to be seen"
	case !a.Succeeded():
	case !maySee:
		return ", but it was deleted, private or of a closed profile"
	case !p.may(a, member, a.Subject, value):
		return fmt.Sprintf(" shows the %s %q, which is another by then", member, value)
	}
	return ""
}

// checkFeed judges each post on a page of the feed as a read of the post.
func checkFeed(r *run, f *Finding) {
	p := r.product
	for _, a := range r.answered(history.PostFeed) {
		f.Looked++
		listed := make(map[string]bool)
		for _, post := range got(a).Posts {
			author := p.authors[post.ID]
			switch {
			case listed[post.ID]:
				f.violatedf("%s lists post %s twice", Describe(a), post.ID)
			case author == "":
			case author != r.handles[post.Author.ID] || !p.maySee(a, post.ID):
				f.violatedf("%s lists post %s of %s, which was deleted, private or of a closed profile", Describe(a), post.ID, author)
			case !p.may(a, postText, post.ID, post.Text):
				f.violatedf("%s lists post %s with the text %q, which is another by then", Describe(a), post.ID, post.Text)
			}
			listed[post.ID] = true
		}
	}
}
