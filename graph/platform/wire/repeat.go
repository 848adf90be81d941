package wire

// Repeat is embedded in the result of an idempotent operation: Repeated tells that it is the result of an earlier, identical
// request, which REST answers with 200 instead of 201.
type Repeat struct {
	Repeated bool `json:"-"`
}

// IsRepeat is Repeated, for a transport that does not know the result's type.
func (r Repeat) IsRepeat() bool { return r.Repeated }
