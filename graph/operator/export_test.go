package operator

// FindText and the bounds of Find, for tests that count the rows it reads.
var FindText = named("find_text")

const (
	FoundPerKind = foundPerKind
	TextExamined = textExamined
)
