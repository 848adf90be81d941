package operator

// FindText and the bounds of Find, for tests of what it reads.
var FindText = findText

const (
	FoundPerKind = foundPerKind
	TextExamined = textExamined
)
