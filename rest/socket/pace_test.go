package socket

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
)

// §6: at most 50 frames in any second.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pace
		for range 3 {
			for range 50 {
				require.NoError(t, p.take(time.Now()))
			}
			time.Sleep(time.Second - time.Nanosecond)
			require.Equal(t, errFast, p.take(time.Now()), "a second has not passed")
			time.Sleep(time.Second)
		}
		for range 200 {
			require.NoError(t, p.take(time.Now()))
			time.Sleep(time.Second / 50)
		}
		require.NoError(t, p.take(time.Now()))
		require.Equal(t, errFast, p.take(time.Now()), "any second counts")
	})
}

// signs is a connection that counts the signs of life that its client is sent.
type signs struct {
	link
	sent chan struct{}
}

func (s signs) ping() error {
	s.sent <- struct{}{}
	return nil
}

// §6: a socket is pinged once in an interval of 30 s and a stream twice, whatever its slot; not all at the same time.
func TestEveryConnectionIsPingedInEachInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{Config: Config{PingInterval: defaultPingInterval}, receivers: make(map[uuid.UUID][]receiver)}
		sent := map[int]chan struct{}{pingRounds: make(chan struct{}, 1000), pingRounds / 2: make(chan struct{}, 1000)}
		const connections = 100
		for period, to := range sent {
			for i := range connections {
				slot := events.Slot{ID: uuid.New(), BotID: uuid.New()}
				slot.ID[len(slot.ID)-1] = byte(i)
				h.receivers[slot.BotID] = []receiver{&session{hub: h, slot: slot, pingPeriod: period, link: signs{sent: to}}}
			}
		}
		go h.pingPeers(t.Context())
		time.Sleep(time.Second + time.Nanosecond)
		synctest.Wait()
		require.Less(t, len(sent[pingRounds]), connections/10)
		time.Sleep(29 * time.Second)
		synctest.Wait()
		require.Len(t, sent[pingRounds], connections)
		require.Len(t, sent[pingRounds/2], 2*connections)
	})
}
