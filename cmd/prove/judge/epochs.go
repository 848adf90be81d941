package judge

import (
	"errors"
	"fmt"
	"strings"

	"stoa/rest/client/keylog"
)

// of returns the log of the epoch that a head names. Each end of an epoch has put one entry before those that were left, which names
// the former root; so an earlier epoch's log stands behind these.
func (l *keyLog) of(head string) (*keyLog, error) {
	origin, _, _ := strings.Cut(head, "\n")
	if origin == l.verifier.Name() {
		return l, nil
	}
	if known := l.former[origin]; known != nil {
		return known, nil
	}
	host, epoch, err := keylog.HostOf(origin)
	if err != nil {
		return nil, err
	}
	_, present, err := keylog.HostOf(l.verifier.Name())
	if err != nil {
		return nil, err
	}
	ended := present - epoch
	if host != l.host || ended < 1 || ended > len(l.raw) {
		return nil, fmt.Errorf("its log is %s, and the log of the end %s", origin, l.verifier.Name())
	}
	if l.entries[ended-1].Type != keylog.TypeEpoch {
		return nil, errors.New("the log of the end names no former epoch")
	}
	former := &keyLog{host: l.host}
	if former.verifier, err = keylog.ParseLogKey(keylog.LogKey(origin, keylog.Public(l.verifier))); err != nil {
		return nil, err
	}
	if l.former == nil {
		l.former = make(map[string]*keyLog)
	}
	l.former[origin] = former
	return former, former.add(l.raw[ended:])
}
