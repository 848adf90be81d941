package card_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/pages"
	"stoa/rest/site/card"
)

func drawn(t require.TestingT, c card.Card) []byte {
	raw, err := c.Draw()
	require.NoError(t, err)
	return raw
}

// A text that the fonts lack is left out, and the next one stands for it.
func TestScripts(t *testing.T) {
	t.Parallel()
	with := func(titles ...string) []byte { return drawn(t, card.Card{Titles: titles, Lines: []string{"@jun"}}) }
	handle := with("@jun")
	for _, foreign := range []string{"月と待ち時間", "رسالة قصيرة", "चाँद", "한국어", "שלום", "ไทย", "Moon 月", "a\u0315", "", "\u202e\u200b", "🌙"} {
		require.Equal(t, handle, with(foreign, "@jun"), foreign)
	}
	for _, known := range []string{"Grüße, café", "Ώρα", "Слово", "cafe\u0301", "Łódź"} {
		require.NotEqual(t, handle, with(known, "@jun"), known)
	}
	require.Equal(t, with("Sunflower by @pia"), with(" Sunflower 🌻 by\n\u202e @pia\ufe0f"), "signs that are no letters are left out")
	require.Equal(t, with("cafe\u0301"), with("café"))
	require.Equal(t, drawn(t, card.Card{Titles: []string{"x"}}), drawn(t, card.Card{Titles: []string{"x"}, Lines: []string{"月"}}))
}

// Any texts and any face make a picture of the same size, within its margins and a bounded number of bytes.
func TestAnyCard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if rapid.IntRange(0, 3).Draw(t, "one of four: drawing takes its time") > 0 {
			return
		}
		width, height := rapid.IntRange(1, 400).Draw(t, "width"), rapid.IntRange(1, 400).Draw(t, "height")
		raw := drawn(t, card.Card{
			Titles: []string{rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z ]{0,400}`), rapid.StringMatching(`W{0,400}`)).Draw(t, "title"), "@x"},
			Lines:  rapid.SliceOfN(rapid.StringMatching(`[a-z @]{0,300}`), 0, 2).Draw(t, "lines"),
			Face:   image.NewGray(image.Rect(7, 7, 7+width, 7+height)),
		})
		require.Less(t, len(raw), 200_000)
		picture, err := png.Decode(bytes.NewReader(raw))
		require.NoError(t, err)
		require.Equal(t, image.Pt(card.Width, card.Height), picture.Bounds().Size())
		ground := picture.At(0, 0)
		for y := range card.Height - 12 {
			for _, x := range []int{20, 60, 1140, 1180} {
				require.Equal(t, ground, picture.At(x, y), "%d, %d", x, y)
			}
		}
		for x := range card.Width {
			require.Equal(t, ground, picture.At(x, card.Height-20))
		}
	})
}

// The pattern of an id is the one that the pages show: mirrored, in the same two colours.
func TestPattern(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("01a21623-b83c-7a9a-9608-54cf19bcb0b6")
	picture := card.Pattern(pages.NewPattern(id))
	found := map[color.Color]int{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			found[picture.At(x, y)]++
			require.Equal(t, picture.At(x, y), picture.At(picture.Bounds().Dx()-1-x, y))
		}
	}
	require.Len(t, found, 2)
}

func BenchmarkDraw(b *testing.B) {
	c := card.Card{
		Titles: []string{"Four voices: The lighthouse (a page with a picture, a poem, a table and a script)"}, Lines: []string{"Noor", "@noor"},
		Face: card.Pattern(pages.NewPattern(uuid.Max)),
	}
	for b.Loop() {
		if _, err := c.Draw(); err != nil {
			b.Fatal(err)
		}
	}
}
