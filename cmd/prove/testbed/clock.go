package testbed

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"time"
)

// clockVariable names the file that a server with a clock that can be set (.ci/clocks) reads.
const clockVariable = "CLOCK_OFFSET_FILE"

// SetClock sets the wall clock of the server's host, which the database does not share, and makes sure that the server sees it.
func (s *Server) SetClock(ctx context.Context, ahead time.Duration) error {
	if err := s.writeClock(ahead); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Address+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	told, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return err
	}
	if off := time.Until(told) - ahead; off.Abs() > time.Minute {
		return fmt.Errorf("%s: its clock is %s off: was it built by .ci/clocks?", s.Name, off)
	}
	return nil
}

func (s *Server) writeClock(ahead time.Duration) error {
	_, err := s.clock.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(ahead.Seconds()))), 0)
	return err
}
