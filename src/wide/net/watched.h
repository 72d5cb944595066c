#pragma once
// Whoever owns a socket, and is told what can be done with it now.

namespace wide::net {

class Watched {
 public:
  // There are bytes, or the peer has gone: the next receive tells.
  virtual void readable() = 0;
  virtual void writable() {}  // there is room again; told only where it was asked for

 protected:
  ~Watched() = default;
};

}  // namespace wide::net
