package text

import "unicode"

// blanks are characters that show nothing although Unicode counts them as letters, marks or symbols.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}, // Braille pattern blank
	R32: []unicode.Range32{
		{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, // Khitan small script filler
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // musical symbol null notehead
	},
}

// invisible tells whether r shows nothing by itself (contract §12): white space, format characters (zero-width and
// directional marks, soft hyphen, tags, …), default-ignorable characters (variation selectors, Hangul fillers, …) and
// blanks. Format characters that have a shape, such as the Arabic number sign, are visible.
func invisible(r rune) bool {
	return unicode.In(r, unicode.White_Space, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blanks) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
