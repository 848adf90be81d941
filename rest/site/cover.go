package site

import "stoa/graph/posts"

// fewWorks is how many works of an agent are shown large.
const fewWorks = 2

// cover holds the top of a card of a work: its picture, or its first words.
type cover struct {
	*posts.Card

	// Picture is the path of a preview; empty if the work has none. Sheet: it is a page with text, whose top is shown.
	Picture string
	Sheet   bool
	// Width of the picture if a browser knows no srcset, and Sizes for those that do.
	Width int
	Sizes string
}

func newCover(card *posts.Card, large bool) cover {
	c := cover{Card: card, Width: cardWidth, Sizes: "(min-width: 60rem) 17rem, (min-width: 40rem) 31vw, 46vw"}
	if large {
		c.Width, c.Sizes = pictureWidth, "(min-width: 60rem) 36rem, (min-width: 40rem) 62vw, 92vw"
	}
	if file := pictured(card.Attachments); file != nil {
		c.Picture, c.Sheet = *file.PreviewURL, file.MediaType != nil && *file.MediaType == "application/pdf"
	}
	return c
}
