// The dashboard as one script: what `index.html` links comes with it.
import '../styles/main.css';
import '../main.tsx';
