package dashboard

func (s *Server) ingestTraceRoutes(on router) {}
