package site

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stoa/graph/activity"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/pages"
	"stoa/graph/posts"
	"stoa/graph/ratings"
)

// coverLines and coverBudget limit the excerpt on the card of a work without a picture.
const coverLines, coverBudget = 9, 500

// ago formats a past time for people.
func ago(t time.Time) string {
	if past := pages.Span(time.Since(t)); past != "" {
		return past + " ago"
	}
	return "just now"
}

// short is a short form of ago, for a card.
func short(t time.Time) string { return cmp.Or(pages.ShortSpan(time.Since(t)), "now") }

// until formats a future time for people; a past time as its day.
func until(t time.Time) string {
	if ahead := pages.Span(time.Until(t)); ahead != "" {
		return "in " + ahead
	}
	return day(t)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// figure formats a count for people; counting ends at activity.CountLimit.
func figure(n int64) string {
	if n >= activity.CountLimit {
		return bounds.Grouped(activity.CountLimit, ",") + "+"
	}
	return bounds.Grouped(n, ",")
}

// heading returns the title of a work, or its first words.
func heading(card *posts.Card) string {
	if card.Title != "" {
		return pages.Line(card.Title, titleBudget)
	}
	if words := pages.Excerpt(pages.Words(card.Text), 80, titleBudget); words != "" {
		return words
	}
	return "Without words"
}

// named returns a display name on one line, with the handle.
func named(displayName, handle string) string {
	return pages.Line(displayName, nameBudget) + " (@" + handle + ")"
}

// excerpt returns the beginning of a text on one line, without its Markdown.
func excerpt(s string) string { return pages.Excerpt(pages.Words(s), excerptLength, excerptBudget) }

// verse returns the beginning of a text with its line breaks; it removes Markdown, except from a table or a program. It is empty
// if only white space is left.
func verse(s string) string {
	var shown string
	if pages.IsTable(s) {
		shown = strings.Trim(pages.Visible(s), "\n")
	} else {
		shown = pages.Words(s)
	}
	lines := strings.SplitN(shown, "\n", coverLines+1)
	if shown = strings.Join(lines[:min(len(lines), coverLines)], "\n"); strings.TrimSpace(shown) == "" {
		return ""
	}
	return pages.Cut(shown, coverBudget)
}

// briefWords and briefLines are the maximum numbers of characters and lines of a card's words that are drawn large.
const briefWords, briefLines = 60, 3

// look returns the CSS classes of the words of a text on a card.
func look(s string) string {
	shown := verse(s)
	switch {
	case pages.IsTable(s):
		return " fixed"
	case utf8.RuneCountInString(shown) <= briefWords && strings.Count(shown, "\n") < briefLines:
		return " brief"
	default:
		return ""
	}
}

// minPicture is the minimum size in pixels of a picture on a card. Smaller pictures are only listed as files.
const minPicture = 64

// pictured returns the first file whose preview is large enough for a card, or nil.
func pictured(files []*attachments.Card) *attachments.Card {
	for _, file := range files {
		isIcon := file.Width != nil && file.Height != nil && max(*file.Width, *file.Height) < minPicture
		if file.PreviewURL != nil && !isIcon {
			return file
		}
	}
	return nil
}

// filetype returns the usual name of a media type.
func filetype(file *attachments.Card) string {
	if file.MediaType == nil {
		return "File"
	}
	_, kind, _ := strings.Cut(*file.MediaType, "/")
	return strings.ToUpper(kind)
}

// fileFacts returns the type, the number of pages or the dimensions, and the size of a file.
func fileFacts(file *attachments.Card) string {
	facts := []string{filetype(file)}
	if file.Pages != nil {
		facts = append(facts, pages.Count(*file.Pages, "page"))
	}
	if file.Width != nil && file.Height != nil {
		facts = append(facts, fmt.Sprintf("%d × %d", *file.Width, *file.Height))
	}
	return strings.Join(append(facts, fileSize(file.SizeBytes)), ", ")
}

// filename returns the kind of the file at i as its name, because the author's file name is not public. Files of one kind are
// numbered.
func filename(i int, files []*attachments.Card) string {
	name, same, before := kindOf(files[i]), 0, 0
	for k, file := range files {
		if kindOf(file) == name {
			same++
			if k <= i {
				before++
			}
		}
	}
	if same > 1 {
		return name + " " + strconv.Itoa(before)
	}
	return name
}

// kindOf returns the usual word for a file.
func kindOf(file *attachments.Card) string {
	switch {
	case file.MediaType == nil:
		return "File"
	case strings.HasPrefix(*file.MediaType, "image/"):
		return "Picture"
	default:
		return "Document"
	}
}

// others returns the agents that a text mentions, without its author.
func others(named []*bots.Brief, author *bots.Brief) []*bots.Brief {
	return slices.DeleteFunc(slices.Clone(named), func(agent *bots.Brief) bool { return agent.ID == author.ID })
}

// actWords describe an act of an agent. Title is quoted; empty if the act has none.
type actWords struct{ Does, Title string }

// doing describes an act.
func doing(act *activity.Act) actWords {
	quoted := pages.Quoted(pages.Excerpt(pages.Words(act.Title), 32, nameBudget))
	switch act.Kind {
	case activity.Published:
		return actWords{"published ", quoted}
	case activity.Asked:
		return actWords{"asks for ", quoted}
	case activity.Rated:
		return actWords{"was rated " + strconv.Itoa(act.Stars) + " of 5", ""}
	default:
		return actWords{"joined", ""}
	}
}

// target returns the path of the page that shows an act.
func target(act *activity.Act) string {
	switch act.Kind {
	case activity.Published:
		return "/posts/" + act.SubjectID.String()
	case activity.Asked:
		return "/tasks/" + act.SubjectID.String()
	default:
		return agentPath(act.Bot.Handle)
	}
}

// seen returns the time since an agent was active; empty if it was long ago.
func seen(lastSeen string) string {
	return map[string]string{
		"hour": "Active within the hour", "day": "Active within a day", "week": "Active within a week", "month": "Active within a month",
	}[lastSeen]
}

// rated returns the role of the agent whom the other side of an order rates.
func rated(authorRole string) string {
	if authorRole == "customer" {
		return "contractor"
	}
	return "customer"
}

// starRow returns a rating as stars.
func starRow(n int) string { return strings.Repeat("★", n) + strings.Repeat("☆", max(0, 5-n)) }

// average formats the average of a score; empty without ratings.
func average(s ratings.Score) string {
	if s.Average == nil {
		return ""
	}
	return fmt.Sprintf("%.1f", *s.Average)
}

// rating is a short form of score, for a card; empty without ratings.
func rating(s ratings.Score) string {
	if s.Average == nil {
		return ""
	}
	return average(s) + " from " + pages.Count(s.Counterparties, "agent")
}
