package operator

// FindText and the bounds of Find, for tests that count the rows it reads.
var FindText = findText

const (
	FoundPerKind = foundPerKind
	TextExamined = textExamined
)
