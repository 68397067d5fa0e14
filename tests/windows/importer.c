int wmain(void);int wmain(void){return 0;}
